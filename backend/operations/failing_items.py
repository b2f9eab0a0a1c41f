"""Metrics of items of background work that fail."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress

from prometheus_client import Gauge

from backend.storage.driver.deadlines import deadline
from backend.storage.driver.mongo import Database, StorageError
from backend.storage.processes.failing_items import count_failing

_FAILING = Gauge(
    "waylink_failing_items",
    "Items of background work, such as organizations, that fail at the moment.",
    ["work"],
    multiprocess_mode="livemostrecent",
)
_SECONDS = 1.0


def items_that_fail(database: Database) -> Callable[[], Awaitable[None]]:
    """What counts the items of each work into the metrics. While MongoDB is away, they stay as they were."""

    async def count() -> None:
        with suppress(StorageError), deadline(_SECONDS):
            for work, items in (await count_failing(database)).items():
                _FAILING.labels(work.value).set(items)

    return count
