"""The `click_counts` collection: the clicks of each link, by day, hour and minute, and by what they were."""

from __future__ import annotations

import asyncio
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

from pymongo import IndexModel

from backend.domain.analytics import WindowCounts, day_of
from backend.domain.ids import LinkId, OrgId
from backend.domain.rollup import DAY_SECONDS, Dimension
from backend.storage.collection import BY_ID, Collection, NoRetention, NotPersonal, Stage
from backend.storage.link_deltas import of_links, waiting_clicks_of, waiting_documents, with_deltas
from backend.storage.mongo import ClientSession, Database, Document
from backend.storage.ownership import ByLink
from backend.storage.rollups import COMPRESSOR, INDEXES, Rollups, Waiting

NAME = "click_counts"
DAY_INDEX = IndexModel([("org_id", 1), ("day", 1)], partialFilterExpression={"day": {"$exists": True}})
COLLECTION = Collection(
    name=NAME,
    # The second is for what was clicked in an organization's last days, whichever links these are.
    indexes=[*INDEXES, DAY_INDEX],
    owned_by=ByLink(),
    personal=NotPersonal("numbers"),
    retention=NoRetention("numbers stay true when what they counted is forgotten"),
    archived=Stage.HISTORY,
    shard_key=BY_ID,
    compressor=COMPRESSOR,
)
ROLLUPS = Rollups(NAME)
_UNNAMED: Document = {"_id": {"$regex": "/day/"}, "day": None}


async def count_window(database: Database, org_id: OrgId, link_id: LinkId, now: datetime) -> WindowCounts:
    """A link's clicks in total and in the 30 and 7 days before `now` (contract, "Click analytics object")."""
    async with _waiting(database, org_id, link_id) as waiting:
        return await ROLLUPS.read_windows(database, link_id, now, waiting)


async def count_windows(
    database: Database, org_id: OrgId, link_ids: Sequence[LinkId], now: datetime
) -> dict[LinkId, WindowCounts]:
    """The clicks of these links, as `count_window`, by link id. A link without clicks is left out."""
    clicked = list(await count_totals(database, org_id, link_ids) if link_ids else ())
    async with with_deltas(database, of_links(org_id, clicked)) as (session, deltas):
        if session is None:
            reads = (ROLLUPS.read_windows(database, each, now) for each in clicked)
            return dict(zip(clicked, await asyncio.gather(*reads), strict=True))
        documents = await waiting_documents(deltas, clicked)
        return {  # a session asks one thing at a time
            each: await ROLLUPS.read_windows(database, each, now, Waiting(documents.get(each, []), session))
            for each in clicked
        }


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
    pipeline: list[Document] = [
        {"$match": {"org_id": org_id, "day": {"$gte": first}}},
        {"$group": {"_id": "$link_id", "clicks": {"$sum": clicks}}},
    ]
    first_day = int(start.timestamp()) // DAY_SECONDS
    async with with_deltas(database, {"org_id": org_id}) as (session, deltas):
        counted = await waiting_clicks_of(deltas, lambda day, hour: (day, hour) >= (first_day, start.hour))
        async for found in database[NAME].aggregate(pipeline, session=session):
            counted[LinkId(found["_id"])] += found["clicks"]
    return {link_id: clicks for link_id, clicks in counted.items() if clicks}


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


async def count_totals(database: Database, org_id: OrgId, link_ids: Iterable[LinkId]) -> dict[LinkId, int]:
    """All clicks of these links, by link id. A link without clicks is left out."""
    ids = set(link_ids)
    async with with_deltas(database, of_links(org_id, ids)) as (own, deltas):
        totals = await waiting_clicks_of(deltas)
        totals.update(await ROLLUPS.read_totals(database, ids, own))
    return {link_id: clicks for link_id, clicks in totals.items() if link_id in ids}


async def sum_totals(
    database: Database, link_ids: Sequence[LinkId], org_id: OrgId, session: ClientSession
) -> int:
    """What all clicks of the organization's links come to, as `session` shows them."""
    ids = set(link_ids)
    async with with_deltas(database, of_links(org_id, ids), session) as (_, deltas):
        waiting = await waiting_clicks_of(deltas)
    stored = await ROLLUPS.sum_totals(database, link_ids, session)
    return stored + sum(clicks for link_id, clicks in waiting.items() if link_id in ids)


async def count_values(
    database: Database, link_id: LinkId, org_id: OrgId, now: datetime, days: int
) -> dict[Dimension, Counter[str | None]]:
    """The requests for the organization's link on the last `days` days in UTC, by what they were."""
    async with _waiting(database, org_id, link_id) as waiting:
        return await ROLLUPS.read_breakdown(database, link_id, org_id, now, days, waiting=waiting)


@asynccontextmanager
async def _waiting(database: Database, org_id: OrgId, link_id: LinkId) -> AsyncIterator[Waiting]:
    """What is to be added to the link's documents."""
    async with with_deltas(database, of_links(org_id, [link_id])) as (session, deltas):
        documents = await waiting_documents(deltas, [link_id])
        yield Waiting(documents.get(link_id, []), session)
