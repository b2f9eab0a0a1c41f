"""Items of background work, such as organizations: what fails for one stops no other."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterable, Awaitable, Callable, Hashable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from backend.concurrency.background_task import tell_failed
from backend.concurrency.retrying import Retries
from backend.storage.driver.mongo import is_away

ItemT = TypeVar("ItemT")
# Seconds until an item that failed is tried again: after the first failure, and at most.
_FIRST_PAUSE, _LONGEST_PAUSE = 10.0, 3600.0
_logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Failing:
    """An item that failed, and until when it waits for its next try."""

    until: float = 0.0
    retries: Retries = field(default_factory=lambda: Retries(_FIRST_PAUSE, _LONGEST_PAUSE))


class Items:
    """Tries each item by itself. One that fails is logged, counted, and left out for a pause that grows.

    Only where MongoDB is away is the error raised: then no other item would do better. `name` says what the
    work does, as a `BackgroundTask` has it.
    """

    def __init__(self, name: str, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._name = name
        self._monotonic = monotonic
        self._failing: dict[Hashable, _Failing] = {}

    async def each(
        self,
        items: Iterable[ItemT] | AsyncIterable[ItemT],
        work: Callable[[ItemT], Awaitable[object]],
        key_of: Callable[[ItemT], Hashable] = lambda item: item,
    ) -> None:
        """Do the work for each of the items, which are all there are. `key_of` says which one an item is."""
        found = [item async for item in items] if isinstance(items, AsyncIterable) else list(items)
        keys = {key_of(item) for item in found}
        self._failing = {key: failing for key, failing in self._failing.items() if key in keys}
        for item in found:
            await self.one(key_of(item), partial(work, item))

    async def one(self, key: Hashable, work: Callable[[], Awaitable[object]]) -> bool:
        """Do the work for this item, unless it failed a short time ago. Returns whether it was done."""
        failing = self._failing.get(key)
        if failing and self._monotonic() < failing.until:
            return False
        try:
            await work()
        except Exception as error:
            if is_away(error):
                raise
            self._note(key, error)
            return False
        self._failing.pop(key, None)
        return True

    def _note(self, key: Hashable, error: Exception) -> None:
        failing = self._failing.setdefault(key, _Failing())
        failing.until = self._monotonic() + failing.retries.fail()
        tell_failed(self._name)
        _logger.error("Background work failed for one of many: %s: %s", self._name, key, exc_info=error)
