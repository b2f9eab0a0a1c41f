"""The health check of MongoDB: it knows at any time whether MongoDB answers, so that requests need not wait.

A confirmed write shows that MongoDB answers. A service that follows changes of links writes every 0.4
seconds, so it sends no pings. Reads show nothing, since a member that is no longer primary may answer them.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Sequence

from pymongo.errors import ExecutionTimeout

from backend.concurrency.background_task import BackgroundTask
from backend.storage.driver.deadlines import deadline
from backend.storage.driver.lanes import Lane
from backend.storage.driver.mongo import Database, StorageError, ping

# Seconds without an answer after which MongoDB is pinged: longer than from one heartbeat's write to the next.
_PING_AFTER = 0.45
_PING_INTERVAL_WHILE_AWAY = 0.25
# Seconds that each ping may take. MongoDB counts as away when both pings in a row failed, since the first may
# have been lost with its connection. With the silence before, that is known within 1.65 seconds.
_PING_TIMEOUTS = (0.8, 0.4)
# After MongoDB hung, the driver takes the hang for the time of a round trip. For a second or two it refuses
# calls that have less time than that, without sending them. No hang of the driver's own connection is longer.
_LONG_PING_TIMEOUT = 4.0
_log = logging.getLogger("waylink.storage")


class Pulse:
    """`async with Pulse(database, lanes)`: tells these lanes when MongoDB stops or starts to answer."""

    def __init__(self, database: Database, lanes: Sequence[Lane]) -> None:
        self._database = database
        self._lanes = lanes
        # A lane of its own: behind other calls, a ping would find out too late that MongoDB answers again.
        self._ping_lane = Lane("pulse", 1, 10)
        self._asking = BackgroundTask("asking whether MongoDB answers", self._go_on_asking)
        self._answered_at = float("-inf")
        self.is_away = False

    async def __aenter__(self) -> Pulse:
        with self._ping_lane.used(None):
            await self._asking.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._asking.stop()
        self._ping_lane.close()

    @property
    def failures(self) -> list[str]:
        """A description of the error if MongoDB can't be pinged now."""
        return self._asking.failures

    def note_write(self) -> None:
        """Note that MongoDB has confirmed a write just now."""
        self._answered_at = time.monotonic()

    async def _go_on_asking(self) -> None:
        while True:
            self._note(is_away=self._silence >= _PING_AFTER and not await self._answers())
            pause = max(0.0, _PING_AFTER - self._silence)
            await asyncio.sleep(_PING_INTERVAL_WHILE_AWAY if self.is_away else pause)

    @property
    def _silence(self) -> float:
        return time.monotonic() - self._answered_at

    async def _answers(self) -> bool:
        for seconds in _PING_TIMEOUTS[1:] if self.is_away else _PING_TIMEOUTS:
            try:
                return await self._ask(seconds)
            except ExecutionTimeout:
                with contextlib.suppress(StorageError):
                    return await self._ask(_LONG_PING_TIMEOUT)
            except StorageError:
                pass
        return False

    async def _ask(self, seconds: float) -> bool:
        """True once MongoDB answers. Raises StorageError if it does not within these seconds."""
        with deadline(seconds):
            await ping(self._database)
        self._answered_at = time.monotonic()
        return True

    def _note(self, *, is_away: bool) -> None:
        if is_away != self.is_away:
            _log.warning("MongoDB does not answer" if is_away else "MongoDB answers again")
        self.is_away = is_away
        for lane in self._lanes:
            lane.away() if is_away else lane.back()
