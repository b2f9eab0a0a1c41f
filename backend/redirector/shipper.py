"""Moves clicks from the logs on disk into the database, behind the redirects."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from backend.concurrency.background_task import BackgroundTask
from backend.concurrency.pauses import pause_after
from backend.redirector.click_log import ClickLog, create_log, take_over_logs
from backend.redirector.direct_clicks import DirectClicks
from backend.redirector.log_shipping import LogShipping
from backend.redirector.log_writer import Kept, LogWriter
from backend.redirector.metrics import count_at_risk
from backend.storage.mongo import Database, StorageError, deadline

# Seconds between two looks at an idle log: a click is in the analytics about this much later.
_LOOK_EVERY = 0.05
# Seconds between two looks for logs of processes that ended.
_TAKE_OVER_EVERY = 5.0
_MOST_LEFT_BEHIND = 16  # that one process has open
_LONGEST_REST = 1.0
_REST = 4.0  # how much longer than a batch takes the shipper rests while redirects go on
_ROTATE_BYTES = 4_000_000
_ROTATE_SECONDS = 24 * 3600.0
_GIVE_UP_SECONDS = 1.0  # for a disk that hangs while the service stops
_logger = logging.getLogger(__name__)


class Shipper:
    """Owns this process's click log, and those of processes that ended, until they are in the database.

    Its own log and those left behind are shipped side by side, a batch at a time: new clicks are counted
    while old ones are, and what fails with one log does not keep the others waiting.
    """

    def __init__(self, database: Database, folder: Path, unreadable: Path, last_try: float = 5.0) -> None:
        """`last_try`: seconds that a stopping service ships for; what is left, the next one takes over."""
        self._last_try = last_try
        self._database = database
        self._folder = folder
        self._unreadable = unreadable
        self._direct = DirectClicks(database)
        self._disk = LogWriter(create_log(folder), self._store_later)
        self._own = self._shipping(self.log, position=0)
        self._left_behind: list[LogShipping] = []
        self._turn = asyncio.Lock()
        self._tasks = [
            BackgroundTask("shipping clicks", lambda: _go_on(self._ship_own)),
            BackgroundTask("shipping clicks left behind", lambda: _go_on(self._ship_left_behind)),
            self._direct.task,
        ]

    @property
    def log(self) -> ClickLog:
        """The log that this process writes."""
        return self._disk.log

    @property
    def failures(self) -> list[str]:
        """Which of its work fails now."""
        return [failure for each in self._tasks if (failure := each.failure)]

    def start(self) -> None:
        """Begin to ship in the background."""
        for task in self._tasks:
            task.start()

    async def stop(self) -> None:
        """Ship what is there, for `last_try` seconds at most, and give the logs up."""
        for task in self._tasks:
            await task.stop()
        try:
            # One bounds what is asked of the database, the other what is asked of the disk.
            with deadline(self._last_try):
                async with asyncio.timeout(self._last_try):
                    await self._direct.store_rest()
                    await self._ship_rest()
        except (StorageError, TimeoutError):
            pass
        except Exception:  # the service goes on stopping; the next one ships the rest
            _logger.exception("Clicks stay on disk")
        self._direct.give_up()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._disk.run(self._give_up_logs), _GIVE_UP_SECONDS)
        self._disk.end()

    async def keep(self, line: bytes) -> None:
        """Return once a click is on disk, or in the database where the disk refuses it, or after a second.

        Then its visitor is answered all the same, and the click is in memory until one of both takes it.
        """
        kept = await self._disk.write(line)
        if kept is Kept.REFUSED:
            await self._direct.store(line)
        elif kept is Kept.LATE:
            count_at_risk(1)

    @property
    def backlog(self) -> int:
        """Bytes of clicks on this process's disk log that are not in the database yet."""
        return self._own.waiting + sum(each.waiting for each in self._left_behind)

    async def _ship_own(self) -> float:
        """Ship a batch of the own log; how many seconds to rest."""
        took = await self._ship_batch(self._own)
        if not self._own.is_done:
            return _rest_after(took)
        if self._is_due:
            await self._rotate()
        return _LOOK_EVERY

    async def _ship_left_behind(self) -> float:
        """Ship a batch of a log that was left behind, where there is one; how many seconds to rest."""
        if not self._left_behind:
            await self._take_over()
        if not self._left_behind:
            return _TAKE_OVER_EVERY
        clicks_until_now = self.log.end
        # The next batch is of another log, also where this one fails.
        self._left_behind.append(shipping := self._left_behind.pop(0))
        took = await self._ship_batch(shipping)
        if shipping.is_done:
            self._left_behind.remove(shipping)
            await self._disk.run(shipping.log.remove)
        return _rest_after(took) if self.log.end > clicks_until_now else 0

    async def _ship_batch(self, shipping: LogShipping) -> float:
        """Ship a batch, alone in this process: two at once meet at the same counters. The seconds it took."""
        async with self._turn:
            began = time.monotonic()
            await shipping.ship_batch()
            return time.monotonic() - began

    async def _take_over(self) -> None:
        """Own what was left behind. Raises OSError where one of the logs can't be opened."""
        taken: list[ClickLog] = []
        most = _MOST_LEFT_BEHIND - len(self._left_behind)
        try:
            await self._disk.run(lambda: taken.extend(take_over_logs(self._folder, most)))
        finally:
            self._left_behind += map(self._shipping, taken)

    def _shipping(self, log: ClickLog, position: int | None = None) -> LogShipping:
        return LogShipping(self._database, self._disk, log, self._unreadable, position)

    def _store_later(self, lines: Sequence[bytes]) -> None:
        """Lines that the disk refused when their visitors were answered already."""
        for line in lines:
            self._direct.add(line)

    async def _ship_rest(self) -> None:
        await self._take_over()
        while not self._own.is_done:
            await self._ship_batch(self._own)
        while self._left_behind:
            await self._ship_left_behind()

    @property
    def _is_due(self) -> bool:
        """Whether the own log is large or old, so that a new one is to take its place: disks stay small."""
        return self.log.end > _ROTATE_BYTES or time.monotonic() - self.log.opened_at > _ROTATE_SECONDS

    async def _rotate(self) -> None:
        full = self.log
        await self._disk.run(self._replace_log)
        if self.log is not full:
            await self._disk.run(full.remove)

    def _replace_log(self) -> None:
        """Between two writes: start a new log, if all of this one is shipped still."""
        if self._own.is_done:
            self._disk.log = create_log(self._folder)
            self._own = self._shipping(self.log, position=0)

    def _give_up_logs(self) -> None:
        for each in self._left_behind:
            each.log.close()
        if self._own.is_done:
            self.log.remove()
        else:
            self.log.close()


async def _go_on(ship: Callable[[], Coroutine[Any, Any, float]]) -> None:
    """Ship and rest by turns. While the database is away, the pauses become longer."""
    failures = 0
    while True:
        try:
            rest = await ship()
            failures = 0
        except StorageError as error:
            failures += 1
            rest = pause_after(failures)
            if failures == 1:
                _logger.warning("Clicks wait on disk, the database can't be written: %s", error)
        await asyncio.sleep(rest)


def _rest_after(took: float) -> float:
    """Redirects come first: under load, shipping takes a part of the time, and catches up later."""
    return min(_REST * took, _LONGEST_REST)
