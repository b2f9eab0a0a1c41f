"""Work that goes on after a failure: it is tried again, after a pause."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from math import inf
from typing import NoReturn

from backend.concurrency.cancellation import raise_if_cancelled


class Retries:
    """Counts the failures in a row of one piece of work, and says how long to pause after each.

    The pause after the first failure lasts `first` seconds, and each further one twice as long as the one
    before, up to `longest` seconds. At random, it is shorter by up to the part `jitter`, so that processes
    don't retry all at once. An attempt that ran for `proven_after` seconds counts as a success, even if it
    failed in the end.
    """

    def __init__(
        self, first: float = 0.2, longest: float = 2.0, jitter: float = 0.5, proven_after: float = inf
    ) -> None:
        self.failures = 0  # in a row
        self._first = first
        self._longest = longest
        self._jitter = jitter
        self._proven_after = proven_after
        self._began: float | None = None  # None: no attempt is under way

    @property
    def is_failing(self) -> bool:
        """Whether the last attempt failed, and the one under way has not proven itself yet."""
        return self.failures > 0 and not self._is_proven()

    def begin(self) -> None:
        """Note that an attempt begins."""
        self._began = time.monotonic()

    def succeed(self) -> None:
        """Note that an attempt succeeded."""
        self.failures = 0

    def fail(self) -> float:
        """Note that an attempt failed. Returns the seconds to wait before the next one."""
        self.failures = 1 if self._is_proven() else self.failures + 1
        self._began = None
        # The exponent is limited: after a thousand failures the power would be too large for a float.
        pause = min(self._longest, self._first * 2.0 ** min(self.failures - 1, 10))
        return pause * random.uniform(1 - self._jitter, 1)  # noqa: S311 - jitter

    def _is_proven(self) -> bool:
        return self._began is not None and time.monotonic() - self._began > self._proven_after


async def keep_trying(
    work: Callable[[], Awaitable[float]],
    retried: type[Exception],
    when_failed: Callable[[Exception], object],
    retries: Retries,
) -> NoReturn:
    """Do `work` again and again; it returns the seconds to rest before the next time.

    An error of the kind `retried` is counted in `retries`, which says how long to pause; `when_failed` is
    called with the error before that pause. Other errors are raised.
    """
    while True:
        retries.begin()
        try:
            rest = await work()
            retries.succeed()
        except retried as error:
            rest = retries.fail()
            when_failed(error)
        raise_if_cancelled()
        await asyncio.sleep(rest)
