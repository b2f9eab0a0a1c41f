"""Reads feeds for analytics: all facts, and each document that they name once. Clicks are not events here.

This includes facts that are no events: devices with new visits or customers, and tags with new names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from backend.domain.feed.cursor import Cursor
from backend.domain.feed.events import EventType
from backend.domain.feed.facts import DEVICE, REREAD, SUMMARY, Fact
from backend.domain.ids import OrgId
from backend.storage.apps import installs
from backend.storage.clicks import blocks as click_blocks
from backend.storage.driver.mongo import ClientSession, Database, Document, size_of
from backend.storage.driver.mongo import Cursor as MongoCursor
from backend.storage.feed.loaders.contacts import own_id
from backend.storage.feed.loaders.fact_documents import find_documents
from backend.storage.outbox import entries, heads
from backend.storage.outbox.entries import AgesBy
from backend.storage.outbox.marks import cursor_before
from backend.storage.sales import conversions, leads
from backend.storage.visitors import contacts, devices, events

MOST_ENTRIES = 500
# What a page may have besides, unless its first entry alone has more. Whoever reads it holds all of it.
_MOST_CLICKS = 92_160
_MOST_DOCUMENTS = 1_000
_MOST_SUMMARIES = 2
_MOST_BYTES = 8_000_000  # of facts
# Collections, by the types of facts that name their documents.
COLLECTIONS: Mapping[str, str] = {
    EventType.CLICK: click_blocks.NAME,
    EventType.OPEN: click_blocks.NAME,
    EventType.LEAD: leads.NAME,
    EventType.CONVERSION: conversions.NAME,
    EventType.REFUND: conversions.NAME,
    EventType.EVENT: events.NAME,
    EventType.IDENTIFY: contacts.NAME,
    EventType.INSTALL: installs.NAME,
    DEVICE: devices.NAME,
}
# The field of a fact that has the document's id.
_FIELDS = ("block", "call", "install_id", "device_id")
# A collection, and the id of a document in it without the organization's.
Name = tuple[str, str]


@dataclass(frozen=True, slots=True)
class PackedEntry:
    """The facts of one transaction. `cursor` is the place behind it."""

    facts: Sequence[Fact]
    cursor: Cursor


@dataclass(frozen=True, slots=True)
class PackedPage:
    """A part of a feed, and those documents named by its facts that exist, read in one snapshot.

    Clicks are in the field `packed` of their block's document (domain/clicks/block). A merged block is found
    under the names of all blocks that it was merged from, and has all of their clicks
    (`click_blocks.parts_of`).
    """

    entries: Sequence[PackedEntry]
    named: Mapping[Name, Document]
    next_cursor: Cursor
    has_more: bool


def name_of(fact: Fact) -> Name | None:
    """The document that the fact names; None if it names none, or the person was erased."""
    collection = COLLECTIONS.get(fact["type"])
    if collection is None:
        return None
    if fact["type"] == EventType.IDENTIFY:
        return (collection, own_id(fact)) if fact["customer_id"] else None
    document_id = next(fact[field] for field in _FIELDS if field in fact)
    return (collection, document_id) if document_id else None


async def read_packed(
    database: Database, org_id: OrgId, after: Cursor, limit: int = MOST_ENTRIES, share: float = 1.0
) -> PackedPage:
    """At most `limit` of the organization's entries, from the one that the cursor is before or in.

    There are fewer where they name more than a page may have, of which it takes this `share`; one at least.
    The cursors of packed entries are between entries. Raises StorageError.
    """
    async with await database.client.start_session(snapshot=True) as session:
        head = (await heads.find_heads(database, [org_id], session))[org_id]
        query = {
            "org_id": org_id,
            "place": {"$gte": after.place, "$lte": head},
            "ages_by": {"$ne": AgesBy.AUDIT.value},  # it says nothing of visitors and sales
        }
        cursor = database[entries.NAME].find(query, session=session).sort("place", 1).limit(limit + 1)
        documents, has_more = await _first_entries(cursor, limit, share)
        packed_entries = [
            PackedEntry(document["facts"], Cursor(document["place"] + 1)) for document in documents
        ]
        documents_by_name = await _find_fact_documents(database, session, org_id, packed_entries)
        place = packed_entries[-1].cursor.place if has_more else head + 1
        behind = after if after >= Cursor(place) else await cursor_before(database, org_id, place, session)
    return PackedPage(packed_entries, documents_by_name, behind, has_more)


async def _first_entries(cursor: MongoCursor, limit: int, share: float) -> tuple[list[Document], bool]:
    """The first of these entries, as far as a page has room for them, and whether there are more."""
    documents: list[Document] = []
    taken = 0.0
    async for document in cursor:
        taken += _share_of(document["facts"])
        if documents and (taken > share or len(documents) == limit):
            return documents, True
        documents.append(document)
    return documents, False


def _share_of(facts: Sequence[Fact]) -> float:
    """How much of a page these facts take, with all that they name. A whole page is 1."""
    share = sum(map(size_of, facts)) / _MOST_BYTES
    for fact in facts:
        share += fact.get("clicks", 0) / _MOST_CLICKS
        if fact["type"] == SUMMARY:
            share += len(fact["summaries"]) / _MOST_SUMMARIES
        elif fact["type"] == REREAD:
            share += len(fact["ids"]) / _MOST_DOCUMENTS
        elif "clicks" not in fact and name_of(fact):
            share += 1 / _MOST_DOCUMENTS
    return share


async def _find_fact_documents(
    database: Database, session: ClientSession, org_id: OrgId, packed_entries: Sequence[PackedEntry]
) -> dict[Name, Document]:
    ids_by_collection: defaultdict[str, set[str]] = defaultdict(set)
    for name in (name_of(fact) for entry in packed_entries for fact in entry.facts):
        if name:
            ids_by_collection[name[0]].add(name[1])
    documents_by_name: dict[Name, Document] = {}
    blocks = ids_by_collection.pop(click_blocks.NAME, set())
    for collection, own_ids in ids_by_collection.items():
        documents = await find_documents(database, session, collection, org_id, own_ids)
        documents_by_name |= {(collection, own_id): document for own_id, document in documents.items()}
    return documents_by_name | await _find_blocks(database, session, org_id, blocks)


async def _find_blocks(
    database: Database, session: ClientSession, org_id: OrgId, own_ids: Collection[str]
) -> dict[Name, Document]:
    if not own_ids:
        return {}
    condition = click_blocks.blocks_with(org_id, list(own_ids))
    documents = await database[click_blocks.NAME].find(condition, session=session).to_list(None)
    return {
        (click_blocks.NAME, part.id): document
        for document in documents
        for part in click_blocks.parts_of(document)
        if part.id in own_ids
    }
