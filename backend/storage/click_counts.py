"""The `click_counts` collection: the number of clicks of each link, by day, hour and minute."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from backend.domain.analytics import Count, WindowCounts, counts_by_day, counts_by_hour
from backend.domain.ids import LinkId
from backend.storage import counters
from backend.storage.collection import Collection, NoRetention, NotPersonal
from backend.storage.mongo import ClientSession, Database
from backend.storage.ownership import ByLink

NAME = "click_counts"
COLLECTION = Collection(
    name=NAME,
    indexes=counters.INDEXES,
    owned_by=ByLink(),
    personal=NotPersonal("numbers"),
    retention=NoRetention("numbers stay true when what they counted is forgotten"),
)


async def add_counts(
    database: Database, session: ClientSession | None, moments: Iterable[counters.CountedMoment]
) -> None:
    """Count these clicks in the caller's transaction.

    `moments` are (organization id, link id, time in UTC).
    """
    await counters.add_moments(database, NAME, session, moments)


async def count_window(database: Database, link_id: LinkId, now: datetime) -> WindowCounts:
    """A link's clicks in total and in the 30 and 7 days before `now` (contract, "Click analytics object")."""
    return await counters.read_windows(database, NAME, link_id, now)


async def count_days(database: Database, link_id: LinkId, now: datetime) -> list[Count]:
    """A link's clicks on each of the last 30 days in UTC, today included, oldest first."""
    return counts_by_day(await counters.read_days(database, NAME, link_id, now, 30), now, 30)


async def count_hours(database: Database, link_id: LinkId, now: datetime) -> list[Count]:
    """A link's clicks in each of the last 24 hours, the current one included, oldest first."""
    return counts_by_hour(await counters.read_days(database, NAME, link_id, now, 2), now)


async def count_totals(database: Database, link_ids: Iterable[LinkId]) -> dict[str, int]:
    """All clicks of these links, by link id. A link without clicks is left out."""
    return await counters.read_totals(database, NAME, link_ids)
