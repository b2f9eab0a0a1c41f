"""A limit that all processes keep to the last request, at one write for each."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from backend.rate_limits.limit import Limit, LimitState, state_of
from backend.storage.mongo import Database, StorageError, deadline
from backend.storage.rate_limits import count_in_window

_log = logging.getLogger("waylink.rate_limits")


class ExactLimit:
    """Counts in the database, so that what is left is exact in every process.

    Once a window is used up, what comes is refused from memory. Where the database fails, or takes longer
    than `PATIENCE` seconds, everything is let through: a limiter must not take the service down.
    """

    PATIENCE = 0.5
    CAPACITY = 10_000

    def __init__(
        self, database: Database, limit: Limit, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._database = database
        self._limit = limit
        self._monotonic = monotonic
        self._used_up_until: dict[str, float] = {}
        self._failing = False

    async def count(self, key: str) -> LimitState:
        """Count one for this key, and say whether it may go on."""
        left = self._used_up_until.get(key, 0.0) - self._monotonic()
        if left > 0:
            return state_of(self._limit, self._limit.amount, left, allowed=False)
        try:
            with deadline(self.PATIENCE):
                state = await self._count(key)
        except StorageError as error:
            self._log_change(failing=True, reason=type(error).__name__)
            return state_of(self._limit, 0, self._limit.seconds, allowed=True)
        self._log_change(failing=False)
        return state

    async def _count(self, key: str) -> LimitState:
        window_id = f"{self._limit.name}/{key}"
        window = await count_in_window(self._database, window_id, 1, self._limit.seconds)
        if window.count >= self._limit.amount:
            self._remember(key, self._monotonic() + window.seconds_left)
        allowed = window.count <= self._limit.amount
        return state_of(self._limit, window.count, window.seconds_left, allowed=allowed)

    def _remember(self, key: str, until: float) -> None:
        if len(self._used_up_until) >= self.CAPACITY:
            self._used_up_until.clear()
        self._used_up_until[key] = until

    def _log_change(self, *, failing: bool, reason: str = "") -> None:
        if failing and not self._failing:
            _log.warning("Rate limits are not enforced: their store fails (%s)", reason)
        elif self._failing and not failing:
            _log.warning("Rate limits are enforced again")
        self._failing = failing
