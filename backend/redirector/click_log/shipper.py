"""Records clicks in this process's log, and ships the records of logs to MongoDB in the background."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import NoReturn

from backend.concurrency.background_task import BackgroundTask
from backend.concurrency.retrying import Retries, keep_trying
from backend.concurrency.startable import SideBySide
from backend.redirector.click_log.direct_clicks import DirectClicks
from backend.redirector.click_log.files import ClickLog, create_log, take_over_logs
from backend.redirector.click_log.shipping import STRETCH_BYTES, LogShipping
from backend.redirector.click_log.writer import LogWriter, WriteResult
from backend.redirector.metrics import count_at_risk
from backend.storage.clicks.logs import LogHead
from backend.storage.driver.deadlines import deadline
from backend.storage.driver.mongo import Database, StorageError

# Seconds from the first new click until it is shipped with those that come meanwhile.
_GATHER = 0.05
# Seconds between two checks of an idle log: whether it is old by now, or has lines that the disk took late.
_LOOK_EVERY = 1.0
# Seconds between two searches for logs of ended processes.
_TAKE_OVER_EVERY = 5.0
_MOST_LEFT_BEHIND = 16  # logs of ended processes that one process has open
_LONGEST_REST = 1.0
_REST = 4.0  # a rest lasts so many times as long as a stretch, while redirects go on
_ROTATE_BYTES = 4_000_000
_ROTATE_SECONDS = 24 * 3600.0
_GIVE_UP_SECONDS = 1.0  # for a disk that hangs while the service stops
_ON_DISK = WriteResult.ON_DISK  # Python 3.11 takes longer to look it up than to compare it
_logger = logging.getLogger(__name__)


class Shipper:
    """Owns the click logs of this process and of ended ones, until they are in the database.

    Its own log and those left behind are shipped in turns, one stretch at a time. So old records don't delay
    new ones, and a failing log doesn't delay the others.
    """

    def __init__(self, database: Database, folder: Path, unreadable: Path, last_try: float = 5.0) -> None:
        """When the service stops, the shipper goes on shipping for at most `last_try` seconds.

        The next start takes over what is left. `unreadable` is the folder for records that can't be read.
        """
        self._last_try = last_try
        self._database = database
        self._logs = folder
        self._unreadable = unreadable
        self._disk = LogWriter(create_log(folder), self._store_later)
        self._direct = DirectClicks(database)
        self._own = self._shipping(self.log, LogHead())
        self._left_behind: list[LogShipping] = []
        self._take_over_at = 0.0
        self._written = asyncio.Event()
        self._turn = asyncio.Lock()
        self._tasks = SideBySide(
            BackgroundTask("shipping clicks", lambda: _keep_shipping(self._ship_own)),
            BackgroundTask("shipping clicks left behind", lambda: _keep_shipping(self._ship_left_behind)),
            self._direct.task,
        )

    @property
    def log(self) -> ClickLog:
        """The log that this process writes to."""
        return self._disk.log

    @property
    def failures(self) -> list[str]:
        """A description of each background task of the shipper that is failing now."""
        return self._tasks.failures

    async def start(self) -> None:
        """Start to ship in the background."""
        await self._tasks.start()

    async def stop(self) -> None:
        """Ship what is left, for at most `last_try` seconds, and release the logs."""
        await self._tasks.stop()
        try:
            # The first limits the time for the database, the second the time for the disk.
            with deadline(self._last_try):
                async with asyncio.timeout(self._last_try):
                    await self._direct.store_rest()
                    await self._ship_rest()
        except (StorageError, TimeoutError):
            pass
        except Exception:  # the service goes on stopping; the next one ships the rest
            _logger.exception("Clicks could not be shipped and stay on disk")
        self._direct.give_up()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._disk.run(self._give_up_logs), _GIVE_UP_SECONDS)
        self._disk.end()

    async def record(self, line: bytes) -> None:
        """Write the record of a visit to disk, or store it in MongoDB directly if the disk refuses it.

        Returns after a second at the latest. Even if the record is only in memory by then, the visitor is
        answered; it is stored as soon as possible.
        """
        result = await self._disk.write(line)
        if result is _ON_DISK:
            self._written.set()
            return
        if result is WriteResult.REFUSED:
            await self._direct.store(line)
        else:
            count_at_risk(1)

    @property
    def backlog(self) -> int:
        """The bytes of records in the logs of this process that are not shipped yet."""
        return self._own.waiting + sum(shipping.waiting for shipping in self._left_behind)

    async def _ship_own(self) -> float:
        """Ship a stretch of this process's log, and wait for more. Returns the seconds to rest."""
        self._written.clear()
        took = await self._ship_stretch(self._own)
        if not self._own.is_done:
            return rest_after(took, self._own.waiting)
        if self._is_due:
            await self._rotate()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LOOK_EVERY):
                await self._written.wait()
        return _GATHER

    async def _ship_left_behind(self) -> float:
        """Ship a stretch of a log that was left behind, if there is one. Returns the seconds to rest."""
        # Also beside logs that always fail: else nobody would ship those that come after them.
        if not self._left_behind or time.monotonic() > self._take_over_at:
            await self._take_over()
        if not self._left_behind:
            return _TAKE_OVER_EVERY
        end_before = self.log.end
        # The next stretch is of another log, also where this one fails.
        self._left_behind.append(shipping := self._left_behind.pop(0))
        took = await self._ship_stretch(shipping)
        if shipping.is_done:
            self._left_behind.remove(shipping)
            await self._disk.run(shipping.log.remove)
        return rest_after(took) if self.log.end > end_before else 0

    async def _ship_stretch(self, shipping: LogShipping) -> float:
        """Ship a stretch. Returns the seconds that it took.

        Only one at a time in this process, so that redirects wait for no more than one.
        """
        async with self._turn:
            began = time.monotonic()
            await shipping.ship_stretch()
            return time.monotonic() - began

    async def _take_over(self) -> None:
        """Take over logs that were left behind. Raises OSError if one of them can't be opened."""
        self._take_over_at = time.monotonic() + _TAKE_OVER_EVERY
        logs: list[ClickLog] = []
        most_logs = _MOST_LEFT_BEHIND - len(self._left_behind)
        try:
            await self._disk.run(lambda: logs.extend(take_over_logs(self._logs, most_logs)))
        finally:
            self._left_behind += map(self._shipping, logs)

    def _shipping(self, log: ClickLog, head: LogHead | None = None) -> LogShipping:
        return LogShipping(self._database, self._disk, log, self._unreadable, head)

    def _store_later(self, lines: Sequence[bytes]) -> None:
        """Store lines that the disk refused after their visitors had been answered."""
        for line in lines:
            self._direct.add(line)

    async def _ship_rest(self) -> None:
        await self._take_over()
        await self._own.look_again()  # before the file is deleted
        while not self._own.is_done:
            await self._ship_stretch(self._own)
        while self._left_behind:
            await self._ship_left_behind()

    @property
    def _is_due(self) -> bool:
        """Whether the log is so large or old that a new one should replace it, to keep the disk small."""
        return self.log.end > _ROTATE_BYTES or time.monotonic() - self.log.opened_at > _ROTATE_SECONDS

    async def _rotate(self) -> None:
        await self._own.look_again()  # before the file is gone
        full = self.log
        await self._disk.run(self._replace_log)
        if self.log is not full:
            await self._disk.run(full.remove)

    def _replace_log(self) -> None:
        """Start a new log if all of the current one is still shipped. Runs between two writes."""
        if self._own.is_done:
            self._disk.log = create_log(self._logs)
            self._own = self._shipping(self.log, LogHead())

    def _give_up_logs(self) -> None:
        for shipping in self._left_behind:
            shipping.log.close()
        if self._own.is_done:
            self.log.remove()
        else:
            self.log.close()


async def _keep_shipping(ship: Callable[[], Awaitable[float]]) -> NoReturn:
    """Ship and rest in turns. While the database does not answer, the pauses become longer."""
    retries = Retries()

    def warn(error: Exception) -> None:
        if retries.failures == 1:
            _logger.warning("Clicks are not shipped, since the database can't be written: %s", error)

    await keep_trying(ship, StorageError, warn, retries)


def rest_after(took: float, waiting: int = 0) -> float:
    """The seconds to rest: redirects come first, so under load shipping gets only part of the time.

    The more bytes wait beyond one stretch, the larger the part: else what waits would grow for ever.
    """
    return min(_REST * took, _LONGEST_REST) / max(1.0, waiting / STRETCH_BYTES) ** 2
