"""Keys that hash addresses, one for each day. They are in memory before their day begins."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import NoReturn

from backend.concurrency.background_task import BackgroundTask
from backend.concurrency.retrying import Retries, keep_trying
from backend.domain.apps.deferred_links import day_of
from backend.storage.driver.deadlines import deadline
from backend.storage.driver.mongo import Database, StorageError
from backend.system.clock import Clock

LOOK_EVERY = 600.0  # seconds
_START_SECONDS = 1.0  # at most, before the start goes on without keys
_RETRY_SECONDS = 5.0
_DAY = timedelta(days=1)
_logger = logging.getLogger(__name__)


class DailyKeys:
    """The keys of today and tomorrow, so that a redirect never waits for one. Older ones are forgotten."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        purpose: str,
        read_key: Callable[[Database, str], Awaitable[bytes]],
    ) -> None:
        """`read_key` returns the key of a day such as 2026-01-31; `purpose` names the keys in the log."""
        self._database = database
        self._clock = clock
        self._purpose = purpose
        self._read_key = read_key
        self._keys: dict[int, bytes] = {}  # by the number of the day in UTC
        self._reading = BackgroundTask(f"reading keys of {purpose}", self._keep_reading)

    async def start(self) -> None:
        """Read the keys, and keep reading those of the next days."""
        with contextlib.suppress(StorageError), deadline(_START_SECONDS):
            await self._read_keys()
        await self._reading.start()

    async def stop(self) -> None:
        """Stop reading keys."""
        await self._reading.stop()

    @property
    def failures(self) -> list[str]:
        """A description of the error if the keys can't be read now."""
        return self._reading.failures

    def of_day(self, moment: datetime) -> bytes | None:
        """The key of this time's UTC day. None if it could not be read, since MongoDB does not answer."""
        return self._keys.get(_number_of(moment))

    async def _keep_reading(self) -> NoReturn:
        retries = Retries(first=_RETRY_SECONDS, longest=_RETRY_SECONDS, jitter=0)
        await keep_trying(self._read_keys, StorageError, self._warn, retries)

    def _warn(self, error: Exception) -> None:
        _logger.warning("Keys of %s can't be read: %s", self._purpose, error)

    async def _read_keys(self) -> float:
        """Read the keys that are missing. Returns the seconds until the next look."""
        now = self._clock()
        days = {_number_of(moment): day_of(moment) for moment in (now, now + _DAY)}
        self._keys = {number: key for number, key in self._keys.items() if number in days}
        for number, day in days.items():
            if number not in self._keys:
                self._keys[number] = await self._read_key(self._database, day)
        return LOOK_EVERY


def _number_of(moment: datetime) -> int:
    return moment.astimezone(UTC).toordinal()
