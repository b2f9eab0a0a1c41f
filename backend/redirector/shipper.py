"""Moves clicks from the logs on disk into the database, behind the redirects."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

from backend.concurrency.background_task import BackgroundTask
from backend.domain.clicks import Click, parse_record
from backend.redirector.click_log import ClickLog, click_id, create_log, take_over_logs
from backend.storage.click_logs import AlreadyShipped, shipped_position
from backend.storage.clicks import ship_clicks
from backend.storage.mongo import Database, StorageError, deadline

# Seconds between two looks at an idle log: a click is in the analytics about this much later.
_LOOK_EVERY = 0.05
# Seconds between two looks for logs of processes that ended.
_TAKE_OVER_EVERY = 5.0
_BATCH_BYTES = 100_000  # about 500 clicks: large enough to be cheap, small enough not to stall redirects
_SHIP_SECONDS = 30.0  # a batch that takes longer is tried again
_LONGEST_REST = 1.0
_REST = 4.0  # how much longer than a batch takes the shipper rests while more is waiting
_ROTATE_BYTES = 4_000_000
_STORE_SECONDS = 1.0  # a visitor waits no longer for this
_ROTATE_SECONDS = 24 * 3600.0
_LONGEST_PAUSE = 2.0
_logger = logging.getLogger(__name__)


class Shipper:
    """Owns this process's click log, and those of processes that ended, until they are in the database."""

    def __init__(self, database: Database, folder: Path, last_try: float = 5.0) -> None:
        """`last_try`: seconds that a stopping service ships for; what is left, the next one takes over."""
        self._database = database
        self._folder = folder
        self._last_try = last_try
        self.log = create_log(folder)
        self._shipped = 0  # how far self.log is in the database
        self._left_behind: list[ClickLog] = []
        self._next_look = 0.0
        self._failures = 0
        self._shipping = BackgroundTask(self._go_on_shipping)

    def start(self) -> None:
        """Begin to ship in the background."""
        self._shipping.start()

    async def stop(self) -> None:
        """Ship what is there, for `last_try` seconds at most, and give the logs up."""
        await self._shipping.stop()
        with contextlib.suppress(StorageError), deadline(self._last_try):
            await self._ship_rest()
        self._give_up_logs()

    async def store(self, line: bytes) -> None:
        """Store one click that the disk did not take, within a second; else StorageError is raised."""
        log_id = uuid.uuid4().hex
        with deadline(_STORE_SECONDS):
            await ship_clicks(self._database, log_id, 0, len(line), [parse_record(click_id(log_id, 0), line)])

    @property
    def backlog(self) -> int:
        """Bytes of clicks on this process's disk log that are not in the database yet."""
        return self.log.end - self._shipped + sum(log.end for log in self._left_behind)

    async def _go_on_shipping(self) -> None:
        while True:
            try:
                began = time.monotonic()
                busy = await self._ship_all()
                self._failures = 0
                # Redirects come first: under load, shipping takes a part of the time, and catches up later.
                took = time.monotonic() - began
                await asyncio.sleep(min(_REST * took, _LONGEST_REST) if busy else _LOOK_EVERY)
            except StorageError as error:
                await self._pause(error)

    async def _pause(self, error: Exception) -> None:
        """Wait longer after each failure, with jitter, so that processes do not come back all at once."""
        self._failures += 1
        if self._failures == 1:
            _logger.warning("Clicks wait on disk, the database can't be written: %s", error)
        await asyncio.sleep(pause_after(self._failures))

    async def _ship_rest(self) -> None:
        while await self._ship_all():
            pass

    async def _ship_all(self) -> bool:
        """Ship a batch of the own log, and all of the logs left behind; whether more is waiting."""
        self._take_over()
        self._shipped = await self._ship_batch(self.log, self._shipped)
        self._rotate()
        while self._left_behind:
            await self._ship_whole(self._left_behind[-1])
            self._left_behind.pop().remove()
        return self._shipped < self.log.end

    def _take_over(self) -> None:
        if time.monotonic() >= self._next_look:
            self._next_look = time.monotonic() + _TAKE_OVER_EVERY
            self._left_behind += take_over_logs(self._folder)

    async def _ship_whole(self, log: ClickLog) -> None:
        position = await shipped_position(self._database, log.id)
        while (after := await self._ship_batch(log, position)) > position:
            position = after

    async def _ship_batch(self, log: ClickLog, start: int) -> int:
        """Ship some lines from `start` on; where the next ones begin."""
        lines = log.read(start, _BATCH_BYTES)
        if not lines:
            return start
        end = start + len(lines)
        try:
            with deadline(_SHIP_SECONDS):
                await ship_clicks(self._database, log.id, start, end, list(_clicks(log.id, start, lines)))
        except AlreadyShipped as shipped:
            return shipped.position
        return end

    def _rotate(self) -> None:
        """Start a new log when this one is large or old and all of it is shipped: disks stay small."""
        due = self.log.end > _ROTATE_BYTES or time.monotonic() - self.log.opened_at > _ROTATE_SECONDS
        if due and self._shipped == self.log.end:
            full, self.log, self._shipped = self.log, create_log(self._folder), 0
            full.remove()

    def _give_up_logs(self) -> None:
        for log in self._left_behind:
            log.close()
        if self._shipped == self.log.end:
            self.log.remove()
        else:
            self.log.close()


def pause_after(failures: int) -> float:
    """Seconds until the next try after so many failures in a row."""
    # The exponent is bounded: after a thousand failures its power has no float.
    longest = min(_LONGEST_PAUSE, 0.1 * 2.0 ** min(failures, 10))
    return longest * random.uniform(0.5, 1)  # noqa: S311 - jitter


def _clicks(log_id: str, start: int, lines: bytes) -> Iterator[Click]:
    position = start
    for line in lines.splitlines(keepends=True):
        try:
            yield parse_record(click_id(log_id, position), line)
        except ValueError:  # the process was killed, or the disk was full, while it was written
            _logger.warning("A click record at byte %s of %s is incomplete and left out", position, log_id)
        position += len(line)
