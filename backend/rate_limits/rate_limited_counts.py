"""Counts rate-limited requests of organizations, in memory, and stores the counts once a second."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter

from prometheus_client import Counter as Metric

from backend.domain.ids import OrgId
from backend.storage.accounts.rate_limited_requests import RateLimitedRequests, add_rate_limited
from backend.storage.driver.deadlines import lift_deadline
from backend.storage.driver.lanes import owned_by
from backend.storage.driver.mongo import Database, StorageError
from backend.system.clock import Clock

_REQUESTS = Metric("waylink_limited_requests", "Requests that a rate limit refused.", ["limit"])
_STORE_EVERY = 1.0  # seconds
_log = logging.getLogger("waylink.rate_limits")


class RateLimitedCounts:
    """Counts rate-limited requests, without a database write for each."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._counts: Counter[tuple[OrgId, str]] = Counter()
        self._storing: asyncio.Task[None] | None = None

    def add(self, limit: str, org_id: OrgId | None) -> None:
        """Count a request that the limit with this name refused.

        Without a known organization, only the metric counts it.
        """
        _REQUESTS.labels(limit).inc()
        if org_id is None:
            return
        self._counts[org_id, limit] += 1
        if self._storing is None or self._storing.done():
            self._storing = asyncio.create_task(self._store_soon())

    async def stop(self) -> None:
        """Store the remaining counts and stop."""
        if self._storing:
            self._storing.cancel()
            await asyncio.gather(self._storing, return_exceptions=True)
        await self._store()

    async def _store_soon(self) -> None:
        lift_deadline()  # which is that of the request that came first, as is the owner
        owned_by(None)
        while self._counts:
            await asyncio.sleep(_STORE_EVERY)
            await self._store()

    async def _store(self) -> None:
        counts, self._counts = self._counts, Counter()
        now = self._clock()
        rate_limited = [
            (org_id, RateLimitedRequests(limit, count, now)) for (org_id, limit), count in counts.items()
        ]
        try:
            await add_rate_limited(self._database, rate_limited)
        except StorageError as error:
            # They are only shown to the organization, so they may be lost while the database is away.
            _log.warning("Counts of rate-limited requests are not stored: %s", type(error).__name__)
