"""The `click_counts` collection: the clicks of each link, by day, hour and minute, and by what they were."""

from __future__ import annotations

import asyncio
import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

from pymongo import IndexModel

from backend.domain.analytics import Count, WindowCounts, counts_by_day, counts_by_hour, day_of
from backend.domain.ids import LinkId, OrgId
from backend.domain.rollup import Dimension
from backend.storage.collection import Collection, NoRetention, NotPersonal
from backend.storage.mongo import Database, Document
from backend.storage.ownership import ByLink
from backend.storage.rollups import COMPRESSOR, INDEXES, Rollups

NAME = "click_counts"
DAY_INDEX = IndexModel([("org_id", 1), ("day", 1)], partialFilterExpression={"day": {"$exists": True}})
COLLECTION = Collection(
    name=NAME,
    # The second is for what was clicked in an organization's last days, whichever links these are.
    indexes=[*INDEXES, DAY_INDEX],
    owned_by=ByLink(),
    personal=NotPersonal("numbers"),
    retention=NoRetention("numbers stay true when what they counted is forgotten"),
    compressor=COMPRESSOR,
)
ROLLUPS = Rollups(NAME)
_UNNAMED: Document = {"_id": {"$regex": "/day/"}, "day": None}


async def count_window(database: Database, link_id: LinkId, now: datetime) -> WindowCounts:
    """A link's clicks in total and in the 30 and 7 days before `now` (contract, "Click analytics object")."""
    return await ROLLUPS.read_windows(database, link_id, now)


async def count_windows(
    database: Database, link_ids: Sequence[LinkId], now: datetime
) -> dict[LinkId, WindowCounts]:
    """The clicks of these links, as `count_window`, by link id. A link without clicks is left out."""
    clicked = list(await count_totals(database, link_ids) if link_ids else ())
    counts = await asyncio.gather(*(count_window(database, link_id, now) for link_id in clicked))
    return dict(zip(clicked, counts, strict=True))


async def count_recent(database: Database, org_id: OrgId, now: datetime, days: int) -> dict[LinkId, int]:
    """The clicks of the organization's links since the hour in which the last `days` days began, by link id.

    Costs one aggregation over the documents of these days: one for each link and day with a click. A link
    without clicks is left out.
    """
    start = (now - timedelta(days=days)).astimezone(UTC)
    first = f"{start:%Y-%m-%d}"
    parts: Document = {"$objectToArray": {"$ifNull": ["$parts", {}]}}
    in_window: Document = {"$or": [{"$ne": ["$day", first]}, {"$gte": [{"$toInt": "$$part.k"}, start.hour]}]}
    clicks = {
        "$sum": {
            "$map": {
                "input": {"$filter": {"input": parts, "as": "part", "cond": in_window}},
                "in": "$$this.v",
            }
        }
    }
    found = database[NAME].aggregate(
        [
            {"$match": {"org_id": org_id, "day": {"$gte": first}}},
            {"$group": {"_id": "$link_id", "clicks": {"$sum": clicks}}},
        ]
    )
    return {LinkId(each["_id"]): each["clicks"] async for each in found if each["clicks"]}


async def name_days(database: Database) -> None:
    """Write into the documents of days that a former version made, of which day they are.

    It reads the whole collection. Once its index exists there is nothing left to do.
    """
    if DAY_INDEX.document["name"] in await database[NAME].index_information():
        return
    # The day begins behind the link's id, a UUID, and "/day/".
    day = {"$substrBytes": ["$_id", len(f"{uuid.UUID(int=0)}/day/"), 10]}
    await database[NAME].update_many(_UNNAMED, [{"$set": {"day": day}}])


async def count_unnamed_days(database: Database) -> int:
    """How many documents `name_days` would change."""
    if DAY_INDEX.document["name"] in await database[NAME].index_information():
        return 0
    return await database[NAME].count_documents(_UNNAMED)


def with_day(document: Document) -> Document:
    """The document, from an archive of a former version, as it is stored now."""
    day = day_of(str(document["_id"]).partition("/")[2])
    return document | {"day": day} if day else document


async def count_days(database: Database, link_id: LinkId, now: datetime) -> list[Count]:
    """A link's clicks on each of the last 30 days in UTC, today included, oldest first."""
    return counts_by_day(await ROLLUPS.read_days(database, link_id, now, 30), now, 30)


async def count_hours(database: Database, link_id: LinkId, now: datetime) -> list[Count]:
    """A link's clicks in each of the last 24 hours, the current one included, oldest first."""
    return counts_by_hour(await ROLLUPS.read_days(database, link_id, now, 2), now)


async def count_totals(database: Database, link_ids: Iterable[LinkId]) -> dict[LinkId, int]:
    """All clicks of these links, by link id. A link without clicks is left out."""
    return await ROLLUPS.read_totals(database, link_ids)


async def count_values(
    database: Database, link_id: LinkId, org_id: OrgId, now: datetime, days: int
) -> dict[Dimension, Counter[str | None]]:
    """The requests for the organization's link on the last `days` days in UTC, by what they were."""
    return await ROLLUPS.read_breakdown(database, link_id, org_id, now, days)
