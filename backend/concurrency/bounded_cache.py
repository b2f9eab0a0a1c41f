"""A cache of limited size, which made-up keys can't fill."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Generic, TypeVar

KeyT = TypeVar("KeyT", str, bytes)
ValueT = TypeVar("ValueT")
_MISSING: Any = object()


class BoundedCache(Generic[KeyT, ValueT]):
    """The most recently used values by key, as many as fit into `most_bytes`.

    Keys that are too long are not kept. `size_of` returns the bytes of a value, for values that are not
    small.
    """

    ENTRY_BYTES = 400  # overhead of an entry beside its contents

    def __init__(
        self, most_bytes: int, longest_key: int, size_of: Callable[[ValueT], int] = lambda _: 0
    ) -> None:
        self._most_bytes = most_bytes
        self._longest_key = longest_key
        self._size_of = size_of
        self._values: OrderedDict[KeyT, ValueT] = OrderedDict()
        self.bytes = 0

    def get(self, key: KeyT, otherwise: Any = None) -> ValueT | Any:
        """The key's value; `otherwise` if it is not in the cache."""
        value = self._values.get(key, _MISSING)
        if value is _MISSING:
            return otherwise
        self._values.move_to_end(key)
        return value

    def keep(self, key: KeyT, value: ValueT) -> None:
        """Store a value. Removes values that were not used for the longest time if there is no more room."""
        if len(key) > self._longest_key:
            return
        self._drop(key)
        self._values[key] = value
        self.bytes += self._bytes_of(key, value)
        while self.bytes > self._most_bytes:
            self._drop(next(iter(self._values)))

    def _drop(self, key: KeyT) -> None:
        value = self._values.pop(key, _MISSING)
        if value is not _MISSING:
            self.bytes -= self._bytes_of(key, value)

    def _bytes_of(self, key: KeyT, value: ValueT) -> int:
        return self.ENTRY_BYTES + len(key) + self._size_of(value)


class _Remembered(dict[KeyT, ValueT]):
    """Results of a function by what it was asked: `remembered[key]`, which is one look-up in C on a hit.

    Noting the order in which keys were used would take longer than that. So there are two halves: a key that
    is asked for moves into the newer one, and once that is full, the older one is forgotten.
    """

    __slots__ = ("_bytes", "_longest_key", "_most_bytes", "_older", "_work")

    def __init__(self, work: Callable[[KeyT], ValueT], most_bytes: int, longest_key: int) -> None:
        super().__init__()
        self._work: Callable[[KeyT], ValueT] = work
        self._most_bytes = most_bytes
        self._longest_key = longest_key
        self._older: dict[KeyT, ValueT] = {}
        self._bytes = 0  # of the newer half

    def __missing__(self, key: KeyT) -> ValueT:
        value: ValueT = self._older.get(key, _MISSING)
        if value is _MISSING:
            value = self._work(key)
        size = BoundedCache.ENTRY_BYTES + len(key)
        if len(key) > self._longest_key or size > self._most_bytes // 2:
            return value
        if self._bytes + size > self._most_bytes // 2:
            self._older = dict(self)
            self.clear()
            self._bytes = 0
        self[key] = value
        self._bytes += size
        return value


def remember(
    most_bytes: int, longest_key: int
) -> Callable[[Callable[[KeyT], ValueT]], Callable[[KeyT], ValueT]]:
    """A decorator that caches a function's small results by key, in `most_bytes` bytes.

    The function must always return the same result for a key. Keys longer than `longest_key` are not cached.
    What was asked for last is kept, at least as much as fits into half of the room.
    """

    def remembering(work: Callable[[KeyT], ValueT]) -> Callable[[KeyT], ValueT]:
        return _Remembered(work, most_bytes, longest_key).__getitem__

    return remembering
