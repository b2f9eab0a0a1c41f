"""The `click_counts` collection: how often each link was clicked, by day, hour and minute."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from backend.domain.analytics import WindowCounts
from backend.storage import counters
from backend.storage.mongo import Database, Session

NAME = "click_counts"
INDEXES = counters.INDEXES


async def add_counts(
    database: Database, session: Session | None, moments: Iterable[tuple[str, str, datetime]]
) -> None:
    """Count clicks, each (organization id, link id, time in UTC), within the caller's transaction."""
    await counters.add_moments(database, NAME, session, moments)


async def count_window(database: Database, link_id: str, now: datetime) -> WindowCounts:
    """A link's clicks in total and in the 30 and 7 days before `now` (contract, "Click analytics object")."""
    return await counters.read_windows(database, NAME, link_id, now)
