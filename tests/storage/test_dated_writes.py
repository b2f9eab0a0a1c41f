"""What arrives in the very moment in which an organization's retention is set."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from backend.storage import installs
from backend.storage.dated_writes import Days, Written, write_dated
from backend.storage.mongo import Database, Session
from backend.storage.retention import set_retention
from tests.organizations import TestOrganization

AT = datetime(2026, 3, 1, tzinfo=UTC)


async def test_a_limit_that_is_set_while_a_transaction_runs_holds_for_what_it_writes(
    database: Database, organization: TestOrganization
) -> None:
    """The limit's own pass can't see the document, which is dated all the same, and by the last limit."""
    limits = iter((30, 7))
    own_id = f"{organization.id}/i"

    async def store(session: Session, days: Days) -> Iterable[Written]:
        document = {"_id": own_id, "org_id": organization.id, "at": AT, "expires_at": None}
        await database[installs.NAME].insert_one(document, session=session)
        assert days == {organization.id: None}
        for each in limits:
            assert (await set_retention(database, organization.id, each))[installs.NAME] == 0
        return [Written(installs.COLLECTION, organization.id, {"_id": own_id})]

    await write_dated(database, [organization.id], store)
    found = await database[installs.NAME].find_one({"_id": own_id})
    assert found
    assert found["expires_at"] == AT + timedelta(days=7)
