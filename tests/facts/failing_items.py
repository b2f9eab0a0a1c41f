"""Items of background work that fail, and whose pauses tests don't wait for."""

from __future__ import annotations

from datetime import timedelta

from backend.storage.driver.mongo import Database
from backend.storage.processes.failing_items import NAME
from backend.storage.processes.work import Work


async def end_pauses(database: Database, work: Work, after: timedelta = timedelta(days=1)) -> None:
    """Let this time pass for the items of this work that failed: those that waited for less are due."""
    earlier = {"$subtract": ["$again_at", after / timedelta(milliseconds=1)]}
    await database[NAME].update_many({"work": work.value}, [{"$set": {"again_at": earlier}}])
