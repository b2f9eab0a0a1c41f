"""A limit that is exact across all processes.

It costs a database write for each request; requests of one key that wait at the same time share a write.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from backend.concurrency.batches import Batches
from backend.rate_limits.limit import Limit, LimitState, state_of
from backend.storage.accounts.rate_limits import count_in_window, forget_count
from backend.storage.driver.deadlines import new_deadline
from backend.storage.driver.mongo import Database, StorageError

_log = logging.getLogger("waylink.rate_limits")


@dataclass(frozen=True, slots=True)
class _UsedUp:
    """A window that is used up: when it ends, and until when this is trusted without asking the database."""

    ends: float
    believed_until: float


class ExactLimit:
    """Counts in the database, so that every process knows exactly what is left.

    Once a window is used up, requests are refused from memory. If the database fails or takes longer than
    `PATIENCE` seconds, every request is allowed: a limit must not stop the service.
    """

    PATIENCE = 0.5
    CAPACITY = 10_000
    RECHECK = 10.0  # seconds; another process may have undone or deleted counts

    def __init__(
        self, database: Database, limit: Limit, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._database = database
        self._limit = limit
        self._monotonic = monotonic
        self._used_up: dict[str, _UsedUp] = {}
        self._failing = False
        # Amounts to count, by key: those that come during a write are counted together by the next one.
        self._amounts: Batches[str, int, LimitState] = Batches(self._states)

    async def count(self, key: str, amount: int = 1) -> LimitState:
        """Count `amount` requests for this key. The result says whether they are allowed, and what is left.

        They are allowed if anything was left, even less than `amount`: otherwise large amounts would always
        be refused.
        """
        now = self._monotonic()
        used_up = self._used_up.get(key)
        if used_up and now < used_up.believed_until:
            return state_of(self._limit, self._limit.amount, used_up.ends - now, allowed=False)
        return await self._amounts.add(key, amount)

    async def _states(self, key: str, amounts: Sequence[int]) -> list[LimitState]:
        """The state after each of these amounts."""
        try:
            with new_deadline(self.PATIENCE):  # it counts for others too
                states = await self._count(key, amounts)
        except StorageError as error:
            self._log_change(failing=True, reason=type(error).__name__)
            return [state_of(self._limit, 0, self._limit.seconds, allowed=True)] * len(amounts)
        self._log_change(failing=False)
        return states

    async def give_back(self, key: str) -> None:
        """Undo one `count` for this key."""
        self._used_up.pop(key, None)
        await count_in_window(self._database, self._window_id(key), -1, self._limit.seconds)

    async def forget(self, key: str) -> None:
        """Delete the count for this key."""
        self._used_up.pop(key, None)
        await forget_count(self._database, self._window_id(key))

    async def _count(self, key: str, amounts: Sequence[int]) -> list[LimitState]:
        window = await count_in_window(
            self._database, self._window_id(key), sum(amounts), self._limit.seconds
        )
        if window.count >= self._limit.amount:
            self._remember(key, window.seconds_left)
        states, count = [], window.count - sum(amounts)
        for amount in amounts:
            allowed = count < self._limit.amount
            count += amount
            states.append(state_of(self._limit, count, window.seconds_left, allowed=allowed))
        return states

    def _window_id(self, key: str) -> str:
        return f"{self._limit.name}/{key}"

    def _remember(self, key: str, seconds_left: float) -> None:
        if len(self._used_up) >= self.CAPACITY:
            self._used_up.clear()
        now = self._monotonic()
        self._used_up[key] = _UsedUp(now + seconds_left, now + min(seconds_left, self.RECHECK))

    def _log_change(self, *, failing: bool, reason: str = "") -> None:
        if failing and not self._failing:
            _log.warning("Rate limits are not enforced: their store fails (%s)", reason)
        elif self._failing and not failing:
            _log.warning("Rate limits are enforced again")
        self._failing = failing
