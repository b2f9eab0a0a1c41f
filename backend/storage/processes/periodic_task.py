"""Periodic tasks: work that a service does again and again in the background."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

from backend.concurrency.background_task import BackgroundTask
from backend.storage.driver.mongo import StorageError, is_unreachable

# The longest pause before the next try while MongoDB is away.
_LONGEST_RETRY_PAUSE = timedelta(seconds=30)


class PeriodicTask:
    """Does `work` at the start, and again `every` so often after its end. While MongoDB is away, it retries.

    `name` says what the work does, such as "finishing deletions". Other errors are logged and counted, as
    `BackgroundTask` says.
    """

    def __init__(self, name: str, work: Callable[[], Awaitable[object]], every: timedelta) -> None:
        self._work = work
        self._every = every
        self._task = BackgroundTask(name, self._go_on)

    async def start(self) -> None:
        """Start the work."""
        await self._task.start()

    async def stop(self) -> None:
        """Stop, also in the middle of the work."""
        await self._task.stop()

    async def _go_on(self) -> None:
        while True:
            pause = self._every
            try:
                await self._work()
            except StorageError as error:
                if not is_unreachable(error):
                    raise
                pause = min(pause, _LONGEST_RETRY_PAUSE)
            await asyncio.sleep(pause.total_seconds())
