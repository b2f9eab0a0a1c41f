"""The clicks of a link by platform, country and referrer, and the requests that did not count, by reason."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from backend.domain.ids import LinkId, OrgId
from backend.storage.clicks import NAME
from backend.storage.mongo import Database, Document, deadline

# A breakdown reads at most this many records, the latest ones, to limit its cost.
MOST_RECORDS = 50_000
_MOST_ROWS = 10
_PATIENCE = 5.0  # seconds


@dataclass(frozen=True, slots=True)
class ClickShare:
    """The number of records with this value. None as value means that it is not known."""

    value: str | None
    count: int


@dataclass(frozen=True, slots=True)
class Breakdown:
    """The clicks of a link by several properties, most frequent values first.

    `is_partial`: only the latest clicks were counted.
    """

    platforms: list[ClickShare]
    countries: list[ClickShare]
    referrers: list[ClickShare]
    not_counted: list[ClickShare]
    is_partial: bool


async def break_down_clicks(database: Database, link_id: LinkId, org_id: OrgId, since: datetime) -> Breakdown:
    """The organization's clicks on a link since this time. Raises StorageError after five seconds."""
    facets = {name: _by(name) for name in ("platform", "country", "referrer_host")}
    facets["all"] = [{"$count": "count"}]
    counted = await _run(database, [*_latest(link_id, org_id, since, counted=True), {"$facet": facets}])
    left_out = [*_latest(link_id, org_id, since, counted=False), *_by("reason")]
    found = counted[0]
    return Breakdown(
        platforms=_shares(found["platform"]),
        countries=_shares(found["country"]),
        referrers=_shares(found["referrer_host"]),
        not_counted=_shares(await _run(database, left_out)),
        is_partial=bool(found["all"]) and found["all"][0]["count"] >= MOST_RECORDS,
    )


def _latest(link_id: LinkId, org_id: OrgId, since: datetime, *, counted: bool) -> list[Document]:
    return [
        {"$match": {"link_id": link_id, "counted": counted, "at": {"$gte": since}, "org_id": org_id}},
        {"$sort": {"at": -1}},
        {"$limit": MOST_RECORDS},
    ]


def _by(name: str) -> list[Document]:
    return [
        {"$group": {"_id": f"${name}", "count": {"$sum": 1}}},
        {"$sort": {"count": -1, "_id": 1}},
        {"$limit": _MOST_ROWS},
    ]


async def _run(database: Database, pipeline: list[Document]) -> list[Any]:
    with deadline(_PATIENCE):
        return await database[NAME].aggregate(pipeline).to_list(None)


def _shares(rows: list[Any]) -> list[ClickShare]:
    return [ClickShare(row["_id"], row["count"]) for row in rows]
