"""Counts orphan visits of link domains, in memory first: no visitor waits for it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import uuid
from typing import NoReturn

from backend.concurrency.background_task import BackgroundTask
from backend.domain.domains.orphans import OrphanTallies, is_asked_by_itself, readable_path
from backend.domain.web.client import ClientKind
from backend.redirector.request.arrival import Arrival
from backend.redirector.request.visit import Visit
from backend.storage.driver.deadlines import deadline
from backend.storage.driver.mongo import Database
from backend.storage.links.orphans import add_orphan_visits

STORE_EVERY = 10.0  # seconds
_STORE_SECONDS = 10.0
_LAST_STORE_SECONDS = 2.0
_PEOPLE = frozenset({ClientKind.BROWSER, ClientKind.IN_APP_BROWSER})
_logger = logging.getLogger(__name__)


class OrphanVisits:
    """The orphan visits of this process, stored now and then.

    They are hints, not facts: those of the last seconds are lost where the process dies, and while MongoDB is
    away only as many wait as OrphanTallies takes.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._tallies = OrphanTallies(uuid.uuid4().hex)
        self._storing = BackgroundTask("storing orphan visits", self._keep_storing)

    async def start(self) -> None:
        """Start to store visits now and then."""
        await self._storing.start()

    async def stop(self) -> None:
        """Store what waits, if the database answers, and stop."""
        await self._storing.stop()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LAST_STORE_SECONDS):
                await self.store()

    @property
    def failures(self) -> list[str]:
        """A description of the error if visits can't be stored now."""
        return self._storing.failures

    def note(self, visit: Visit, arrival: Arrival) -> None:
        """Count a visit of a person, on a link domain, for something that no link has."""
        domain = visit.domain
        if domain is None or arrival.client.kind not in _PEOPLE or visit.method != "GET" or visit.is_prefetch:
            return
        path = readable_path(visit.raw_path)
        if not is_asked_by_itself(path):
            self._tallies.add(domain.org_id, visit.host, path, visit.referrer_host, arrival.at)

    async def store(self) -> None:
        """Store what was counted so far, of each domain and day by itself.

        What can't be stored is tried again the next time, in the same batch, for it may be stored already.
        """
        failed: Exception | None = None
        with deadline(_STORE_SECONDS):
            for key, batch in self._tallies.take().items():
                try:
                    await add_orphan_visits(self._database, key, batch)
                    self._tallies.stored(key, batch)
                except Exception as error:
                    failed = error
        if failed:
            _logger.warning("Orphan visits can't be stored: %r", failed)
        if dropped := self._tallies.take_dropped():
            _logger.warning("%d orphan visits are not counted: they are of too many domains", dropped)

    async def _keep_storing(self) -> NoReturn:
        while True:
            await asyncio.sleep(STORE_EVERY)
            await self.store()
