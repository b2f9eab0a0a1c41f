"""What arrives in the very moment in which an organization's retention is set."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from backend.domain.ids import OrgId
from backend.storage.apps import installs
from backend.storage.driver.mongo import ClientSession, Database
from backend.storage.lifecycle.collections import aging_collections
from backend.storage.lifecycle.retention import set_retention
from backend.storage.sales import batches
from backend.storage.visitors.dated_writes import Days, Written, write_dated
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Call, Visitor, call, check, conversion

LIMIT = 30  # days
AT = datetime(2026, 3, 1, tzinfo=UTC)
OF_A_BATCH = ("devices", "contacts", "events", "leads", "conversions")
DATED, UNDATED = ({name: {is_dated} for name in OF_A_BATCH} for is_dated in (True, False))


def one_of_each() -> list[Call]:
    """Calls that write to every collection of a batch."""
    identify = call("identify", customer_id="ada")
    return [check(gclid="g"), identify, call("lead"), call("event", name="e"), conversion()]


async def test_a_limit_that_is_set_while_a_transaction_runs_holds_for_what_it_writes(
    database: Database, organization: TestOrganization
) -> None:
    """The limit's own pass can't see the document, which is dated all the same, and by the last limit."""
    limits = iter((30, 7))
    own_id = f"{organization.id}/i"

    async def store(session: ClientSession, days: Awaitable[Days]) -> Iterable[Written]:
        document = {"_id": own_id, "org_id": organization.id, "at": AT, "expires_at": None}
        await database[installs.NAME].insert_one(document, session=session)
        assert await days == {organization.id: None}
        for limit in limits:
            assert (await set_retention(database, organization.id, limit))[installs.NAME] == 0
        return [Written(installs.COLLECTION, organization.id, {"_id": own_id})]

    await write_dated(database, [organization.id], store)
    install = await database[installs.NAME].find_one({"_id": own_id})
    assert install
    assert install["expires_at"] == AT + timedelta(days=7)


async def test_a_batch_that_is_stored_in_that_moment_is_dated(
    client: httpx.AsyncClient,
    database: Database,
    organization: TestOrganization,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All that one request brings gets the limit that was set between its writes and their commit."""
    write = batches._write

    loop = asyncio.get_running_loop()

    def write_and_be_overtaken(*arguments: Any) -> None:
        write(*arguments)
        assert arguments[-1] == {organization.id: None}
        setting = set_retention(database, organization.id, LIMIT)
        asyncio.run_coroutine_threadsafe(setting, loop).result(timeout=20)

    monkeypatch.setattr(batches, "_write", write_and_be_overtaken)
    await Visitor(client, organization).results(*one_of_each())
    assert await dates(database, organization.id) == DATED


async def test_a_limit_holds_at_once_for_what_arrives(
    client: httpx.AsyncClient, database: Database, organization: TestOrganization
) -> None:
    """What comes before any cache may have forgotten the old limit has the new one, also when there is none
    any more."""
    visitor = Visitor(client, organization)
    await visitor.results(check())
    for days, expected in ((LIMIT, DATED), (None, UNDATED)):
        await set_retention(database, organization.id, days)
        await Visitor(client, organization).results(*one_of_each())
        assert await dates(database, organization.id) == expected
        await erase_all(database, organization.id)


async def dates(database: Database, org_id: OrgId) -> dict[str, set[bool]]:
    """Whether documents of each collection that ages have a date, where there are any."""
    documents_by_collection = {
        collection.name: await database[collection.name].find(collection.scope(org_id)).to_list(None)
        for collection, _ in aging_collections()
    }
    return {
        name: {document["expires_at"] is not None for document in documents}
        for name, documents in documents_by_collection.items()
        if documents
    }


async def erase_all(database: Database, org_id: OrgId) -> None:
    """Delete what there is of visitors."""
    for collection, _ in aging_collections():
        await database[collection.name].delete_many(collection.scope(org_id))
