"""Changes or deletes documents about persons, and has analytics read them again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from backend.domain.feed.events import EventType
from backend.domain.feed.facts import DEVICE, reread_fact
from backend.domain.ids import OrgId
from backend.storage.apps import installs
from backend.storage.driver.mongo import ClientSession, Database, Document, in_transaction, server_time
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
# The most documents that one transaction changes and one fact names.
_DOCUMENTS_PER_TRANSACTION = 500
# Changes the documents that a query finds, so that the query does not find them any more. Returns how many.
ChangeDocument = Callable[[ClientSession | None, Document], Awaitable[int]]


async def change_with_reread(
    database: Database, org_id: OrgId, collection: str, condition: Document, change: ChangeDocument
) -> int:
    """Change all of the organization's documents that the condition finds. Returns how many.

    Documents of which analytics keeps copies are changed in batches. The transaction of each batch also adds
    a fact to the feed, by which analytics reads them again.
    """
    if collection not in _READ_BY_ANALYTICS:
        return await change(None, condition)

    async def work(session: ClientSession) -> tuple[int, int]:
        most = _DOCUMENTS_PER_TRANSACTION
        ids = await note_reread(database, session, org_id, collection, condition, most=most)
        return len(ids), await change(session, {"_id": {"$in": ids}}) if ids else 0

    total = 0
    while True:
        found, changed = await in_transaction(database, work)
        total += changed
        if found < _DOCUMENTS_PER_TRANSACTION:
            return total


async def note_reread(
    database: Database,
    session: ClientSession,
    org_id: OrgId,
    collection: str,
    condition: Document,
    *,
    most: int = 0,
) -> list[str]:
    """Add a fact, in the caller's transaction, by which analytics reads the documents again that are found.

    These are at most `most` documents, or all for 0. Returns their ids.
    """
    documents = database[collection].find(condition, {"_id": 1}, session=session).limit(most)
    ids: list[str] = [document["_id"] async for document in documents]
    if ids and collection in _READ_BY_ANALYTICS:
        own_ids = [document_id.partition("/")[2] for document_id in ids]
        fact = reread_fact(_READ_BY_ANALYTICS[collection], own_ids)
        expires_at = await server_time(database) + entries.REMOVAL_FACTS_KEPT
        await entries.note(database, session, {org_id: [fact]}, expires_at=expires_at)
    return ids
