"""Cursors with marks (domain/feed/cursor): so readers notice a feed that was put back from a backup."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from bson import Timestamp

from backend.domain.feed.cursor import START, Cursor, FeedMark
from backend.domain.ids import OrgId
from backend.storage.driver.mongo import ClientSession, Database, Document, until_confirmed
from backend.storage.outbox import entries, heads
from backend.storage.outbox.heads import find_heads


class FeedPutBack(Exception):
    """The feed has not what somebody has read up to this cursor: MongoDB was put back from a backup.

    The feed and the reader have the same up to the cursor `common`. It is None for a cursor without a mark,
    which says too little. An organization's cursor that is used for another one looks the same.
    """

    def __init__(self, cursor: Cursor, common: Cursor | None) -> None:
        super().__init__(str(cursor))
        self.cursor = cursor
        self.common = common


def mark_of(entry: Document) -> FeedMark:
    """The mark of this entry."""
    return FeedMark.of(entry["_id"].partition("/")[2], entry["stamp"].as_datetime())


async def cursor_before(
    database: Database, org_id: OrgId, place: int, session: ClientSession | None = None
) -> Cursor:
    """The cursor before this place, with its mark."""
    if entry := await _last_before(database, org_id, place, session):
        return Cursor(place, mark=mark_of(entry))
    # All of them were deleted. The head still says when the last one was stored.
    head = await database[heads.NAME].find_one({"_id": org_id, "place": place - 1}, session=session)
    return Cursor(place, mark=FeedMark.of("", head["stamp"].as_datetime()) if head else None)


async def end_of_feed(database: Database, org_id: OrgId) -> Cursor:
    """The cursor behind the organization's last entry."""
    return await cursor_before(database, org_id, (await find_heads(database, [org_id]))[org_id] + 1)


async def cursor_at(database: Database, org_id: OrgId, moment: datetime) -> Cursor:
    """The cursor before the first entry that was stored at this moment or later."""
    first, behind = 1, (await find_heads(database, [org_id]))[org_id] + 1
    stamp = Timestamp(max(0, int(moment.timestamp())), 0)  # nothing was stored before 1970
    while first < behind:
        middle = (first + behind) // 2
        place = {"$gte": middle, "$lt": behind}
        entry = await database[entries.NAME].find_one(
            {"org_id": org_id, "place": place}, {"stamp": 1, "place": 1}, sort=[("place", 1)]
        )
        if entry is None or entry["stamp"] >= stamp:
            behind = middle
        else:
            first = entry["place"] + 1
    return await cursor_before(database, org_id, first)


async def is_lost(
    database: Database, org_id: OrgId, cursor: Cursor, head: int, session: ClientSession | None = None
) -> bool:
    """Whether the feed is not the one that somebody has read up to this cursor.

    Its last place `head` is not so far, or it has other entries before the cursor. Those were stored after
    the backup was put back, and so later than what was read: that tells, too, if entries have been deleted.
    This may be wrong on a new primary, which may not know yet what a majority has: ask `check_cursor` then.
    """
    if head < cursor.last_place:
        return True
    if cursor.mark is None:
        return False
    entry = await _last_before(database, org_id, cursor.last_place + 1, session)
    if entry is None:  # all of them were deleted since
        return False
    found = mark_of(entry)
    is_another = entry["place"] == cursor.last_place and found != cursor.mark
    return is_another or found.second > cursor.mark.second


async def check_cursor(database: Database, org_id: OrgId, cursor: Cursor) -> None:
    """Raise FeedPutBack if the feed is not the one that somebody has read up to this cursor."""
    if not await _is_lost(database, org_id, cursor):
        return
    await until_confirmed(database)
    if await _is_lost(database, org_id, cursor):
        raise FeedPutBack(cursor, await _common(database, org_id, cursor))


async def _is_lost(database: Database, org_id: OrgId, cursor: Cursor) -> bool:
    head = (await find_heads(database, [org_id]))[org_id]
    return await is_lost(database, org_id, cursor, head)


async def last_same_place(
    database: Database, org_id: OrgId, seen: Mapping[int, str], before: int
) -> int | None:
    """The last of these places at which the feed has the entry with the given id; None if it has none there.

    A place before `before` whose entry was deleted since counts as the same.
    """
    places = {"org_id": org_id, "place": {"$in": list(seen)}}
    stored = database[entries.NAME].find(places, {"place": 1})
    found = {entry["place"]: entry["_id"].partition("/")[2] async for entry in stored}
    same = (
        place
        for place, entry in seen.items()
        if found.get(place) == entry or (place not in found and place < before)
    )
    return max(same, default=None)


async def _common(database: Database, org_id: OrgId, cursor: Cursor) -> Cursor | None:
    """The cursor up to which the feed has what was read up to the other one.

    What was placed again since the backup is not before it: it is of the same second as the last entry that
    was read, or later.
    """
    if cursor.mark is None:
        return None
    begin = await cursor_at(database, org_id, cursor.mark.stored_at)
    return begin if begin.place <= cursor.last_place else START  # the clock of MongoDB was put back, too


async def _last_before(
    database: Database, org_id: OrgId, place: int, session: ClientSession | None
) -> Document | None:
    """The last entry before this place that is kept."""
    return await database[entries.NAME].find_one(
        {"org_id": org_id, "place": {"$lt": place}},
        {"place": 1, "stamp": 1},
        sort=[("place", -1)],
        session=session,
    )
