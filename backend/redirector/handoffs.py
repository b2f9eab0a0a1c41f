"""Handoffs of clicks to apps that are not installed yet. The keys that hash addresses are kept in memory."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from datetime import timedelta

from backend.concurrency.background_task import BackgroundTask
from backend.current import Clock
from backend.domain.clicks import NotCounted
from backend.domain.client import Client
from backend.domain.deferred_links import LEADS_TO_APP, Handoff, app_id_on, day_of, hash_address
from backend.domain.destination import Outcome
from backend.redirector.link_cache import CachedLink
from backend.storage.address_keys import address_key
from backend.storage.mongo import Database, StorageError, deadline

_LOOK_EVERY = 600.0
_START_SECONDS = 1.0  # at most, before the start goes on without keys
_RETRY_SECONDS = 5.0
_DAY = timedelta(days=1)
_logger = logging.getLogger(__name__)


class Handoffs:
    """Creates handoffs without a query: the keys of today and tomorrow are in memory."""

    def __init__(self, database: Database, clock: Clock, seconds: float) -> None:
        self._database = database
        self._clock = clock
        self._window = timedelta(seconds=seconds)
        self._keys: dict[str, bytes] = {}
        self._reading = BackgroundTask("reading keys of deferred deep links", self._go_on_reading)

    async def start(self) -> None:
        """Read the keys, and keep reading those of the next days."""
        if self._window:
            with contextlib.suppress(StorageError), deadline(_START_SECONDS):
                await self._read_keys()
            self._reading.start()

    async def stop(self) -> None:
        """Stop reading keys."""
        await self._reading.stop()

    @property
    def failure(self) -> str | None:
        """A description of the error if the keys can't be read now; else None."""
        return self._reading.failure

    def handoff(
        self, outcome: Outcome, reason: NotCounted | None, entry: CachedLink, client: Client, address: str
    ) -> Handoff | None:
        """What to remember of this click for the app that it leads to; None if it leads to no app.

        Also None if the day's key could not be read: an address is never hashed without a key.
        """
        if reason or outcome not in LEADS_TO_APP:
            return None
        now = self._clock()
        key, app_id = self._keys.get(day_of(now)), app_id_on(entry.apps, client.platform)
        hashed = hash_address(key, entry.link.org_id, address) if key else None
        return Handoff(app_id, hashed, now + self._window) if hashed and app_id else None

    async def _go_on_reading(self) -> None:
        while True:
            try:
                await self._read_keys()
                await asyncio.sleep(_LOOK_EVERY)
            except StorageError as error:
                _logger.warning("Keys of deferred deep links can't be read: %s", error)
                await asyncio.sleep(_RETRY_SECONDS)

    async def _read_keys(self) -> None:
        days = [day_of(self._clock()), day_of(self._clock() + _DAY)]
        self._keys = {day: self._keys.get(day) or await address_key(self._database, day) for day in days}
