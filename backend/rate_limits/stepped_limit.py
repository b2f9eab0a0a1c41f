"""A limit without a wait for the database: counted in memory, and shared with other processes in steps."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from backend.concurrency.retrying import Retries
from backend.rate_limits.limit import Limit, LimitState, state_of
from backend.storage.accounts.rate_limits import count_in_window
from backend.storage.driver.deadlines import lift_deadline
from backend.storage.driver.lanes import owned_by
from backend.storage.driver.mongo import Database

_log = logging.getLogger("waylink.rate_limits")
# A process shares its count for a key whenever it has grown by one of so many steps of the limit. A single
# visitor sends far less than a step, and costs no write.
_STEPS = 20


@dataclass(slots=True)
class _Window:
    """The counts of a window.

    `count` has all requests that this process knows of. Of these, other processes don't know `untold` yet.
    """

    ends: float
    count: int = 0
    untold: int = 0


class SteppedLimit:
    """Counts in memory. A background task adds larger steps to the database and reads what others counted.

    So each process may allow up to a twentieth of the limit too much. While the database can't be reached,
    the limit holds within each process, and what was counted is shared afterwards. `stored_name` returns the
    name that stands for a key in the database, where an address must not be stored.
    """

    CAPACITY = 20_000

    def __init__(
        self,
        database: Database,
        limit: Limit,
        stored_name: Callable[[str], Awaitable[str]] | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database = database
        self._limit = limit
        self._stored_name = stored_name
        self._monotonic = monotonic
        self._step = max(1, limit.amount // _STEPS)
        # In order of their start, which is almost the order of their end.
        self._windows: OrderedDict[str, _Window] = OrderedDict()
        self._due: dict[str, _Window] = {}
        self._telling: asyncio.Task[None] | None = None
        self._retries = Retries()

    def count(self, key: str, amount: int = 1) -> LimitState:
        """Count `amount` for this key. The result says whether it is allowed; refused requests do not count.

        It is allowed if anything is left, even less than `amount`: otherwise large amounts would always be
        refused.
        """
        window = self._window(key)
        left = window.ends - self._monotonic()
        if window.count >= self._limit.amount:
            return state_of(self._limit, window.count, left, allowed=False)
        self._add(key, window, amount)
        return state_of(self._limit, window.count, left, allowed=True)

    def give_back(self, key: str) -> None:
        """Undo the count of one for this key."""
        if window := self._windows.get(key):
            self._add(key, window, -1)

    async def stop(self) -> None:
        """Stop the background task, without sharing what is left."""
        if self._telling:
            self._telling.cancel()
            await asyncio.gather(self._telling, return_exceptions=True)

    async def settle(self) -> None:
        """Return once all steps so far are in the database."""
        while self._telling and not self._telling.done():
            await asyncio.wait([self._telling])

    def _window(self, key: str) -> _Window:
        now = self._monotonic()
        window = self._windows.get(key)
        if window and now < window.ends:
            return window
        self._windows.pop(key, None)
        window = self._windows[key] = _Window(now + self._limit.seconds)
        self._forget_ended(now)
        return window

    def _forget_ended(self, now: float) -> None:
        """Remove windows that have ended, and the oldest ones if there is no more room."""
        while True:
            oldest = next(iter(self._windows.values()))
            if now < oldest.ends and len(self._windows) <= self.CAPACITY:
                return
            self._windows.popitem(last=False)

    def _add(self, key: str, window: _Window, amount: int) -> None:
        window.count += amount
        window.untold += amount
        if window.untold >= self._step:
            self._due[key] = window
            if self._telling is None or self._telling.done():
                self._telling = asyncio.create_task(self._tell())

    async def _tell(self) -> None:
        """Share what is due, one key after the other. What fails waits for its next turn, after a pause."""
        lift_deadline()  # which is that of the request that came first, as is the owner
        owned_by(None)
        while self._due:
            key = next(iter(self._due))
            window = self._due.pop(key)
            try:
                await self._tell_of(key, window)
            except Exception as error:
                self._due.setdefault(key, window)
                await self._pause(error)
            else:
                self._retries.succeed()

    async def _pause(self, error: Exception) -> None:
        if not self._retries.is_failing:
            _log.warning("A rate limit holds within each process only: %s", type(error).__name__)
        await asyncio.sleep(self._retries.fail())

    async def _tell_of(self, key: str, window: _Window) -> None:
        if window.untold < self._step or self._monotonic() >= window.ends:  # shared or over meanwhile
            return
        name = await self._stored_name(key) if self._stored_name else key
        amount = window.untold
        shared = await count_in_window(
            self._database, f"{self._limit.name}/{name}", amount, self._limit.seconds
        )
        window.untold -= amount  # only now: what fails is shared again, so that it counts twice at the worst
        now, count = self._monotonic(), shared.count + window.untold
        # The database may have begun the next window a moment ago: what was before counts no more.
        is_next = shared.seconds_left - (window.ends - now) > self._limit.seconds / 2
        window.count = count if is_next else max(window.count, count)
        window.ends = now + shared.seconds_left
