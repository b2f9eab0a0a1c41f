"""Heartbeats of a process."""

from __future__ import annotations

from datetime import UTC, datetime

from backend.concurrency.background_task import BackgroundTask
from backend.storage.driver.mongo import Database
from backend.storage.processes.heartbeats import NAME, HeartbeatWriter
from tests.polling import until

MOMENT = datetime(2100, 1, 1, 12, 34, 56, 789_000, tzinfo=UTC)


async def test_a_heartbeat_is_of_the_minute(database: Database) -> None:
    """Its time is the minute of the clock that is passed in: the index of times is written once a minute."""
    stored: list[None] = []
    heart = HeartbeatWriter(database, lambda: MOMENT, lambda: stored.append(None))
    beating = BackgroundTask("beating", heart.keep_writing)
    await beating.start()
    try:
        await until(lambda: stored, "no heartbeat is stored")
    finally:
        await beating.stop()
    heartbeat = await database[NAME].find_one_and_delete({"_id": heart.id})
    assert heartbeat is not None
    assert heartbeat["at"] == MOMENT.replace(second=0, microsecond=0)
