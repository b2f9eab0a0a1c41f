"""The `feed_heads` collection: the last place that was given to an entry of each organization's feed.

`stamp` is that entry's.
"""

from __future__ import annotations

from collections.abc import Iterable

from backend.domain.feed.cursor import Cursor
from backend.domain.ids import OrgId
from backend.storage.driver.mongo import ClientSession, Database
from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import Collection, NoRetention, NotPersonal, NotSharded, Stage
from backend.storage.schema.ownership import ById

NAME = "feed_heads"
COLLECTION = Collection(
    name=NAME,
    indexes=[],
    owned_by=ById(),
    personal=NotPersonal("a number"),
    retention=NoRetention("a number; a place is never given twice, even where its entry is gone"),
    archived=Stage.HISTORY,
    shard_key=NotSharded("it is with the entries, so that one shard places them by itself"),
    audited=NotAudited("it is no change by anybody, but what happened"),
)


async def find_heads(
    database: Database, org_ids: Iterable[OrgId], session: ClientSession | None = None
) -> dict[OrgId, int]:
    """The last place in the feed of each of these organizations; 0 for a feed without entries."""
    ids = list(org_ids)
    stored = database[NAME].find({"_id": {"$in": ids}}, session=session)
    places = {OrgId(head["_id"]): int(head["place"]) async for head in stored}
    return {org_id: places.get(org_id, 0) for org_id in ids}


async def find_readable_heads(database: Database, org_ids: Iterable[OrgId]) -> dict[OrgId, int]:
    """The same for many at once, of which one may be damaged. That one is 0: who reads that feed is told."""
    ids = list(org_ids)
    stored = database[NAME].find({"_id": {"$in": ids}, "place": {"$type": ["int", "long"]}})
    places = {OrgId(head["_id"]): int(head["place"]) async for head in stored}
    return {org_id: places.get(org_id, 0) for org_id in ids}


def is_elsewhere(head: int, cursor: Cursor) -> bool:
    """Whether a feed with this last place does not end at the cursor: it goes on there, or ends before it."""
    return head + 1 != cursor.place
