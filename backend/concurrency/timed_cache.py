"""A cache whose entries are valid for a few seconds.

`TTLCache` of `cachetools` does not replace it: it forgets entries that are no longer valid, which `recall`
returns, and has no loads that several callers wait for.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")


class TimedCache(Generic[KeyT, ValueT]):
    """Caches the results of `load` for `LIFETIME` seconds each.

    Results that are None or False are not cached, so that made-up keys can't fill the memory. Callers who ask
    for a key that is being loaded wait for that load: when an entry of a busy site expires, all its requests
    ask for it.
    """

    LIFETIME = 2.0
    CAPACITY = 10_000  # in what `size_of` counts

    def __init__(
        self, load: Callable[[KeyT], Awaitable[ValueT]], monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._load = load
        self._monotonic = monotonic
        # With the end of validity, and the size.
        self._entries: OrderedDict[KeyT, tuple[float, ValueT, int]] = OrderedDict()
        self._size = 0  # of all entries
        self._loading: dict[KeyT, asyncio.Task[ValueT]] = {}

    def size_of(self, value: ValueT) -> int:
        """How much of CAPACITY a result takes: one, unless results can be large."""
        return 1

    async def get(self, key: KeyT) -> ValueT:
        """The result of `load` for this key, or its cached result. Raises what `load` raises."""
        if value := self.fresh(key):
            return value
        # Shielded: a caller who gives up does not cancel the load for the others.
        return await asyncio.shield(self.loading(key))

    def loading(self, key: KeyT) -> asyncio.Task[ValueT]:
        """The task that loads this key, started if none runs. It goes on even if nobody waits for it."""
        return self._loading.get(key) or self._start(key)

    def fresh(self, key: KeyT) -> ValueT | None:
        """The cached result for this key, as long as it is valid, without calling `load`."""
        entry = self._entries.get(key)
        return entry[1] if entry and self._monotonic() < entry[0] else None

    def recall(self, key: KeyT) -> ValueT | None:
        """The last cached result for this key, however old, without calling `load`; None if there is none."""
        entry = self._entries.get(key)
        return entry[1] if entry else None

    async def stop(self) -> None:
        """Cancel all that is being loaded, and wait until it has ended."""
        loading = [*self._loading.values()]
        for task in loading:
            task.cancel()
        await asyncio.gather(*loading, return_exceptions=True)

    def _start(self, key: KeyT) -> asyncio.Task[ValueT]:
        loading = self._loading[key] = asyncio.create_task(self._load_and_remember(key))
        loading.add_done_callback(lambda done: self._loaded(key, done))
        return loading

    def _loaded(self, key: KeyT, done: asyncio.Task[ValueT]) -> None:
        del self._loading[key]
        if not done.cancelled():
            done.exception()  # so that asyncio does not warn that nobody read it

    async def _load_and_remember(self, key: KeyT) -> ValueT:
        value = await self._load(key)
        self._remember(key, value)
        return value

    def _remember(self, key: KeyT, value: ValueT) -> None:
        if former := self._entries.pop(key, None):
            self._size -= former[2]
        if value and (size := self.size_of(value)) <= self.CAPACITY:
            self._entries[key] = (self._monotonic() + self.LIFETIME, value, size)
            self._size += size
        while self._size > self.CAPACITY:
            _, (_, _, size) = self._entries.popitem(last=False)
            self._size -= size
