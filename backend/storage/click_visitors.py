"""The visitors of links by day, from the sketches in `click_counts`."""

from __future__ import annotations

from datetime import datetime

from backend.concurrency.side_thread import beside_the_loop
from backend.domain.analytics import Count, counts_by_day, days_of_chart
from backend.domain.ids import LinkId, OrgId
from backend.storage.click_counts import NAME
from backend.storage.mongo import Database
from backend.storage.visitor_sketches import count_visitors

_DAYS = 30


async def visitors_by_day(database: Database, link_id: LinkId, org_id: OrgId, now: datetime) -> list[Count]:
    """The visitors of the organization's link on each of the last 30 days in UTC, oldest first.

    Today is included. Days with many are estimated (`visitor_sketches.STANDARD_ERROR`). Who comes on two days
    counts on both. Costs one query by id.
    """
    names = {f"{link_id}/{bucket}": bucket for bucket in days_of_chart(now, _DAYS)}
    cursor = database[NAME].find({"_id": {"$in": list(names)}, "org_id": org_id}, {"visitors": 1})
    sketches = {
        names[found["_id"]]: bytes(found["visitors"]) async for found in cursor if "visitors" in found
    }
    visitors = await beside_the_loop(
        lambda: {bucket: {"all": count_visitors(sketch)} for bucket, sketch in sketches.items()}
    )
    return counts_by_day(visitors, now, _DAYS)
