"""Feeds as analytics reads them: all facts, and each thing that they name once. No click is an event.

Also facts that no event tells: devices whose visits or customers have changed, tags that got other names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from backend.domain.feed.cursor import Cursor
from backend.domain.feed.events import EventType
from backend.domain.feed.facts import DEVICE, Fact
from backend.domain.ids import OrgId
from backend.storage.apps import installs
from backend.storage.clicks import blocks as click_blocks
from backend.storage.driver.mongo import ClientSession, Database, Document
from backend.storage.feed.identities import own_id
from backend.storage.feed.named import find_named
from backend.storage.outbox import entries, heads
from backend.storage.sales import conversions, leads
from backend.storage.visitors import devices, events, identities

MOST_ENTRIES = 500
# Collections, by the types of facts that name their documents.
COLLECTIONS: Mapping[str, str] = {
    EventType.CLICK: click_blocks.NAME,
    EventType.LEAD: leads.NAME,
    EventType.CONVERSION: conversions.NAME,
    EventType.REFUND: conversions.NAME,
    EventType.EVENT: events.NAME,
    EventType.IDENTIFY: identities.NAME,
    EventType.INSTALL: installs.NAME,
    DEVICE: devices.NAME,
}
# The field of a fact that has the document's id.
_FIELDS = ("block", "call", "install_id", "device_id")
# A collection, and the id of a document in it without the organization's.
Name = tuple[str, str]


@dataclass(frozen=True, slots=True)
class PackedEntry:
    """What was noted in one transaction. `cursor` is where to go on behind it."""

    facts: Sequence[Fact]
    cursor: Cursor


@dataclass(frozen=True, slots=True)
class PackedPage:
    """A part of a feed, and the documents that its facts name, as far as they are there, as of one moment.

    Clicks stand in their block's document, in its field `packed` (domain/clicks/block). One that was merged
    from others stands under the name of each, and has the clicks of all (`click_blocks.parts_of`).
    """

    entries: Sequence[PackedEntry]
    named: Mapping[Name, Document]
    next_cursor: Cursor
    has_more: bool


def name_of(fact: Fact) -> Name | None:
    """Which document the fact names; None if it names none, or nobody any more."""
    collection = COLLECTIONS.get(fact["type"])
    if collection is None:
        return None
    if fact["type"] == EventType.IDENTIFY:
        return (collection, own_id(fact)) if fact["customer_id"] else None
    found = next(fact[field] for field in _FIELDS if field in fact)
    return (collection, found) if found else None


async def read_packed(
    database: Database, org_id: OrgId, after: Cursor, limit: int = MOST_ENTRIES
) -> PackedPage:
    """The organization's entries from the one that the cursor is before, or in, on; at most `limit`.

    The cursors of packed entries are between entries. Raises StorageError.
    """
    async with await database.client.start_session(snapshot=True) as session:
        head = (await heads.find_heads(database, [org_id], session))[org_id]
        placed = {"org_id": org_id, "place": {"$gte": after.place, "$lte": head}}
        found = database[entries.NAME].find(placed, session=session).sort("place", 1).limit(limit + 1)
        documents = await found.to_list(None)
        has_more = len(documents) > limit
        read = [PackedEntry(each["facts"], Cursor(each["place"] + 1)) for each in documents[:limit]]
        named = await _find_named(database, session, org_id, read)
    behind = read[-1].cursor if has_more else max(after, Cursor(head + 1))
    return PackedPage(read, named, behind, has_more)


async def _find_named(
    database: Database, session: ClientSession, org_id: OrgId, read: Sequence[PackedEntry]
) -> dict[Name, Document]:
    wanted: defaultdict[str, set[str]] = defaultdict(set)
    for name in (name_of(fact) for entry in read for fact in entry.facts):
        if name:
            wanted[name[0]].add(name[1])
    found: dict[Name, Document] = {}
    blocks = wanted.pop(click_blocks.NAME, set())
    for collection, own_ids in wanted.items():
        documents = await find_named(database, session, collection, org_id, own_ids)
        found |= {(collection, each): document for each, document in documents.items()}
    return found | await _find_blocks(database, session, org_id, blocks)


async def _find_blocks(
    database: Database, session: ClientSession, org_id: OrgId, own_ids: Collection[str]
) -> dict[Name, Document]:
    if not own_ids:
        return {}
    condition = click_blocks.that_have(org_id, list(own_ids))
    documents = await database[click_blocks.NAME].find(condition, session=session).to_list(None)
    return {
        (click_blocks.NAME, part.id): each
        for each in documents
        for part in click_blocks.parts_of(each)
        if part.id in own_ids
    }
