"""What was just looked up, believed for a few seconds."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")


class TimedCache(Generic[KeyT, ValueT]):
    """Remembers what `load` gave for a key for `LIFETIME` seconds; what is None or False is not remembered,
    so that made-up keys can't fill the memory."""

    LIFETIME = 2.0
    CAPACITY = 10_000

    def __init__(
        self, load: Callable[[KeyT], Awaitable[ValueT]], monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._load = load
        self._monotonic = monotonic
        self._found: OrderedDict[KeyT, tuple[float, ValueT]] = OrderedDict()

    async def get(self, key: KeyT) -> ValueT:
        """What `load` gives for the key, or gave within the last seconds."""
        known = self._found.get(key)
        if known and self._monotonic() < known[0]:
            return known[1]
        value = await self._load(key)
        self._remember(key, value)
        return value

    def recall(self, key: KeyT) -> ValueT | None:
        """What was found last, however long ago, without asking again."""
        known = self._found.get(key)
        return known[1] if known else None

    def _remember(self, key: KeyT, value: ValueT) -> None:
        self._found.pop(key, None)
        if value:
            self._found[key] = (self._monotonic() + self.LIFETIME, value)
        while len(self._found) > self.CAPACITY:
            self._found.popitem(last=False)
