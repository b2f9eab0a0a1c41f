"""What the recording database adds to the audit log."""

from __future__ import annotations

import pytest

from backend.storage.accounts.announced_deletions import announce_deletion, find_announced
from backend.storage.audit import recording as module
from backend.storage.driver.mongo import ClientSession, Database, in_transaction
from backend.storage.outbox import entries
from backend.system.clock import utc_now
from tests.facts.organizations import TestOrganization


class Fault(Exception):
    """Ends a transaction."""


async def test_a_change_and_its_entry_are_stored_together(
    database: Database, organization: TestOrganization, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the transaction fails behind them, or the entry can't be added, neither of them is there."""
    own_id = organization.id

    async def fail(*_: object) -> None:
        raise Fault

    async def work(session: ClientSession) -> None:
        announced = {"_id": own_id, "asked_by": "ada@shop.example", "asked_at": utc_now()}
        await database["announced_deletions"].insert_one(announced, session=session)
        await fail()

    with pytest.raises(Fault):
        await in_transaction(database, work)
    with monkeypatch.context() as patch:
        patch.setattr(module, "note_facts", fail)
        with pytest.raises(Fault):
            await announce_deletion(database, own_id, "ada@shop.example", utc_now())
    assert await find_announced(database, own_id) is None
    assert await database[entries.NAME].count_documents({"org_id": own_id}) == 0
    await announce_deletion(database, own_id, "ada@shop.example", utc_now())
    assert await database[entries.NAME].count_documents({"org_id": own_id}) == 1
