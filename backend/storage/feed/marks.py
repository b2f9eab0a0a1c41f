"""Marks: which entry a reader has seen at a place, so that it notices a feed that was put back from a backup.

The places behind the backup are then given again, to other entries. A place alone would look right again as
soon as as many entries have come as were lost.
"""

from __future__ import annotations

from typing import NamedTuple

from backend.domain.ids import OrgId
from backend.storage.driver.mongo import Database, until_confirmed
from backend.storage.outbox import entries
from backend.storage.outbox.heads import find_heads


class FeedMark(NamedTuple):
    """An entry of a feed: its place, and its id."""

    place: int
    entry: str


async def last_mark(database: Database, org_id: OrgId) -> tuple[int, FeedMark | None]:
    """The last place of the organization's feed, and the mark of the entry there if that is still kept."""
    place = (await find_heads(database, [org_id]))[org_id]
    entry = await _entry_at(database, org_id, place)
    return place, None if entry is None else FeedMark(place, entry)


async def is_lost(database: Database, org_id: OrgId, place: int, mark: FeedMark | None) -> bool:
    """Whether the feed is not the one that somebody has read up to this place, before which it had this mark.

    It has another entry there, or has not come so far. An entry that has aged says nothing.
    """
    entry = await _entry_at(database, org_id, mark.place) if mark else None
    if mark and entry is not None:
        return entry != mark.entry
    if (await find_heads(database, [org_id]))[org_id] + 1 >= place:
        return False
    # A newly elected primary may not know yet that a majority has the entries that were read before.
    await until_confirmed(database)
    return (await find_heads(database, [org_id]))[org_id] + 1 < place


async def _entry_at(database: Database, org_id: OrgId, place: int) -> str | None:
    entry = await database[entries.NAME].find_one({"org_id": org_id, "place": place}, {"_id": 1})
    return str(entry["_id"]) if entry else None
