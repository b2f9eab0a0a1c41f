"""Knows at any time whether MongoDB answers, so that requests need not wait to find out.

A write that was just confirmed says so too: in a service that follows changes of links there is one each 0.4
seconds, and nothing else is asked. What only reads may be answered by a member that is primary no more.
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

_SILENCE = 0.45  # seconds without an answer after which it is asked: longer than from write to write
_EVERY = 0.25  # while it is away
# It is away once it has not answered for the first of these seconds, nor, asked again, for the second: the
# first may have been lost with its connection. With the silence before, within 1.65 seconds.
_PATIENCE = (0.8, 0.4)
# After MongoDB hung, the driver takes the hang for the time of a round trip. For a second or two it refuses,
# without asking, whatever has less time than that. No hang of its own connection lasts as long as this.
_MORE_THAN_MEASURED = 4.0
_log = logging.getLogger("waylink.storage")


class Pulse:
    """`async with Pulse(database, lanes)`: tells these lanes whenever MongoDB stops or starts to answer."""

    def __init__(self, database: Database, lanes: Sequence[Lane]) -> None:
        self._database = database
        self._lanes = lanes
        # Of its own: behind other calls it would learn too late that MongoDB answers again.
        self._own_lane = Lane("pulse", 1, 10)
        self._asking = BackgroundTask("asking whether MongoDB answers", self._go_on_asking)
        self._answered_at = float("-inf")
        self.is_away = False

    async def __aenter__(self) -> Pulse:
        with self._own_lane.used():
            self._asking.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._asking.stop()
        self._own_lane.close()

    @property
    def failure(self) -> str | None:
        """A description of the error if it can't be asked now; else None."""
        return self._asking.failure

    def note_write(self) -> None:
        """Note that MongoDB has confirmed a write just now."""
        self._answered_at = time.monotonic()

    async def _go_on_asking(self) -> None:
        while True:
            self._note(is_away=self._silence >= _SILENCE and not await self._answers())
            await asyncio.sleep(_EVERY if self.is_away else max(0.0, _SILENCE - self._silence))

    @property
    def _silence(self) -> float:
        return time.monotonic() - self._answered_at

    async def _answers(self) -> bool:
        for seconds in _PATIENCE[1:] if self.is_away else _PATIENCE:
            try:
                return await self._ask(seconds)
            except ExecutionTimeout:
                with contextlib.suppress(StorageError):
                    return await self._ask(_MORE_THAN_MEASURED)
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
