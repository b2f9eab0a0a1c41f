"""Reads the newest events of a feed, for readers that don't need the earlier ones."""

from __future__ import annotations

from collections.abc import Collection

from backend.domain.feed.cursor import Cursor
from backend.domain.feed.events import EventType
from backend.domain.feed.facts import events_of
from backend.domain.ids import OrgId
from backend.domain.web.short_urls import ShortUrlForm
from backend.storage.driver.mongo import Database, Document
from backend.storage.feed.reading import FeedPage, read_feed
from backend.storage.outbox import entries
from backend.storage.outbox.marks import end_of_feed

# The most places that are searched. Events of a rare type may be further back.
MOST_PLACES = 10_000


async def newest_page(
    database: Database,
    org_id: OrgId,
    after: Cursor,
    *,
    url_form: ShortUrlForm,
    types: Collection[EventType],
    most: int,
) -> FeedPage:
    """The newest events of these types behind the cursor, at most `most`, in the feed's order.

    `url_form` is as for `read_feed`. Events that were erased or have expired count, and are left
    out. Raises StorageError, and FeedPutBack.
    """
    start = await _start(database, org_id, types, most)
    return await read_feed(database, org_id, max(after, start), url_form=url_form, types=types, limit=most)


async def _start(database: Database, org_id: OrgId, types: Collection[EventType], most: int) -> Cursor:
    """The cursor before the newest `most` events."""
    end = await end_of_feed(database, org_id)
    oldest = Cursor(max(1, end.place - MOST_PLACES))
    cursor = database[entries.NAME].find(
        {
            "org_id": org_id,
            "place": {"$gte": oldest.place, "$lt": end.place},
            "facts.type": {"$in": [type_.value for type_ in types]},
        },
        {"place": 1, "facts.type": 1, "facts.clicks": 1},
        batch_size=most,
    )
    remaining = most
    async for entry in cursor.sort("place", -1):
        count = _events_in(entry, types)
        if count >= remaining:
            return _before_last(entry, types, remaining)
        remaining -= count
    return oldest


def _events_in(entry: Document, types: Collection[EventType]) -> int:
    return sum(events_of(fact) for fact in entry["facts"] if fact["type"] in types)


def _before_last(entry: Document, types: Collection[EventType], events: int) -> Cursor:
    """The cursor before the entry's last so many events of these types, of which it has as many."""
    index = sum(map(events_of, entry["facts"]))
    for fact in reversed(entry["facts"]):
        count = events_of(fact)
        if fact["type"] in types:
            if count >= events:
                return Cursor(entry["place"], index - events)
            events -= count
        index -= count
    raise AssertionError("the entry has fewer events")
