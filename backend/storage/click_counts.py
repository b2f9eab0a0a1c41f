"""The `click_counts` collection: the clicks of each link, by day, hour and minute, and by what they were."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from backend.domain.analytics import Count, WindowCounts, counts_by_day, counts_by_hour
from backend.domain.ids import LinkId, OrgId
from backend.domain.rollup import Dimension
from backend.storage.collection import Collection, NoRetention, NotPersonal
from backend.storage.mongo import Database
from backend.storage.ownership import ByLink
from backend.storage.rollups import INDEXES, Rollups

NAME = "click_counts"
COLLECTION = Collection(
    name=NAME,
    indexes=INDEXES,
    owned_by=ByLink(),
    personal=NotPersonal("numbers"),
    retention=NoRetention("numbers stay true when what they counted is forgotten"),
)
ROLLUPS = Rollups(NAME)


async def count_window(database: Database, link_id: LinkId, now: datetime) -> WindowCounts:
    """A link's clicks in total and in the 30 and 7 days before `now` (contract, "Click analytics object")."""
    return await ROLLUPS.read_windows(database, link_id, now)


async def count_days(database: Database, link_id: LinkId, now: datetime) -> list[Count]:
    """A link's clicks on each of the last 30 days in UTC, today included, oldest first."""
    return counts_by_day(await ROLLUPS.read_days(database, link_id, now, 30), now, 30)


async def count_hours(database: Database, link_id: LinkId, now: datetime) -> list[Count]:
    """A link's clicks in each of the last 24 hours, the current one included, oldest first."""
    return counts_by_hour(await ROLLUPS.read_days(database, link_id, now, 2), now)


async def count_totals(database: Database, link_ids: Iterable[LinkId]) -> dict[str, int]:
    """All clicks of these links, by link id. A link without clicks is left out."""
    return await ROLLUPS.read_totals(database, link_ids)


async def count_values(
    database: Database, link_id: LinkId, org_id: OrgId, now: datetime, days: int
) -> dict[Dimension, Counter[str | None]]:
    """The requests for the organization's link on the last `days` days in UTC, by what they were."""
    return await ROLLUPS.read_breakdown(database, link_id, org_id, now, days)
