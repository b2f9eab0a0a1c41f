"""The `install_counts` collection: how many installs each link led to, by day, hour and minute."""

from __future__ import annotations

from datetime import datetime

from backend.domain.analytics import WindowCounts
from backend.storage import counters
from backend.storage.mongo import Database, Session

NAME = "install_counts"
INDEXES = counters.INDEXES


async def add_install(database: Database, session: Session, org_id: str, link_id: str, at: datetime) -> None:
    """Count an install within the caller's transaction."""
    await counters.add_moments(database, NAME, session, [(org_id, link_id, at)])


async def count_install_window(database: Database, link_id: str, now: datetime) -> WindowCounts:
    """A link's installs in total and in the 30 and 7 days before `now` (contract, "Install analytics")."""
    return await counters.read_windows(database, NAME, link_id, now)
