"""Deletes documents about persons, and empties facts of feeds. Has analytics read again what has changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from backend.domain.feed.events import EventType
from backend.domain.feed.facts import DEVICE, reread_fact
from backend.domain.ids import OrgId
from backend.storage.apps import installs
from backend.storage.driver.mongo import ClientSession, Database, Document, server_time
from backend.storage.driver.page_size import PageSize
from backend.storage.outbox import entries
from backend.storage.sales import conversions, leads
from backend.storage.visitors import devices, events

# The collections of which analytics keeps copies, and the types of the facts that name their documents.
_READ_BY_ANALYTICS: Mapping[str, str] = {
    devices.NAME: DEVICE,
    leads.NAME: EventType.LEAD.value,
    conversions.NAME: EventType.CONVERSION.value,
    events.NAME: EventType.EVENT.value,
    installs.NAME: EventType.INSTALL.value,
}


async def delete_all(
    database: Database, org_id: OrgId, collection: str, condition: Document, pages: PageSize
) -> int:
    """Delete all documents that the condition finds, a page in each transaction. Returns how many."""

    async def work(session: ClientSession) -> int:
        found = database[collection].find(condition, {"_id": 1}, session=session).limit(pages.now)
        ids: list[str] = [document["_id"] async for document in found]
        if ids:
            await note_reread(database, session, org_id, collection, ids)
            await database[collection].delete_many({"_id": {"$in": ids}}, session=session)
        return len(ids)

    total = 0
    while deleted := await pages.transact(database, work):
        total += deleted
    return total


async def empty_facts(
    database: Database, org_id: OrgId, fact: Document, pages: PageSize, *, only: str | None = None
) -> None:
    """Empty the fields that `fact` has, or `only` one of them, of all facts in the feed that are like it."""
    stored, query = database[entries.NAME], facts_like(org_id, fact)
    empty = {"$set": {f"facts.$[fact].{name}": None for name in ([only] if only else fact)}}
    while ids := [entry["_id"] async for entry in stored.find(query, {"_id": 1}).limit(pages.now)]:
        await stored.update_many({"_id": {"$in": ids}}, empty, array_filters=[_within("fact", fact)])


def facts_like(org_id: OrgId, fact: Document) -> Document:
    """The query for entries with a fact that has all of these values."""
    # The indexes are of single fields.
    return {"org_id": org_id, "facts": {"$elemMatch": fact}} | _within("facts", fact)


def _within(name: str, fact: Document) -> Document:
    return {f"{name}.{field}": value for field, value in fact.items()}


async def note_reread(
    database: Database, session: ClientSession, org_id: OrgId, collection: str, ids: Sequence[str]
) -> None:
    """Add a fact, in the caller's transaction, by which analytics reads these documents again."""
    if ids and collection in _READ_BY_ANALYTICS:
        own_ids = [document_id.partition("/")[2] for document_id in ids]
        fact = reread_fact(_READ_BY_ANALYTICS[collection], own_ids)
        expires_at = await server_time(database) + entries.REMOVAL_FACTS_KEPT
        await entries.note(database, session, {org_id: [fact]}, expires_at=expires_at)
