"""A cache that strangers can't fill."""

from __future__ import annotations

from backend.concurrency.bounded_cache import BoundedCache, remember

ENTRY = BoundedCache.ENTRY_BYTES


def test_what_was_used_last_is_kept() -> None:
    """As much as fits: what was not used for longest goes first, and the count of bytes stays true."""
    cache: BoundedCache[str, bytes] = BoundedCache(3 * (ENTRY + 11), longest_key=1, size_of=len)
    for key in "abc":
        cache.keep(key, bytes(10))
    assert cache.get("a") == bytes(10)
    cache.keep("d", bytes(10))
    assert [key for key in "abcd" if cache.get(key)] == ["a", "c", "d"]
    cache.keep("e", bytes(2 * ENTRY))
    assert [key for key in "abcde" if cache.get(key)] == ["e"]
    assert cache.bytes == 3 * ENTRY + 1
    cache.keep("e", b"")
    assert cache.bytes == ENTRY + 1


def test_what_does_not_fit_is_not_kept() -> None:
    """Neither a key that is too long, nor a value that is larger than all the room."""
    cache: BoundedCache[str, bytes] = BoundedCache(ENTRY + 10, longest_key=3, size_of=len)
    cache.keep("long", b"")
    cache.keep("a", bytes(10))
    assert (cache.get("long"), cache.get("a"), cache.bytes) == (None, None, 0)


def test_a_function_is_asked_once() -> None:
    """Its result is remembered, also None; for a longer key it is asked each time."""
    asked = []

    @remember(most_bytes=10_000, longest_key=3)
    def work(key: str) -> str | None:
        asked.append(key)
        return None

    assert [work(key) for key in ("a", "a", "long", "long")] == [None] * 4
    assert asked == ["a", "long", "long"]


def test_results_that_are_asked_for_stay() -> None:
    """However many others come: at most as many are kept as fit, and what is used again is among them."""
    asked = []

    @remember(most_bytes=10 * (ENTRY + 3), longest_key=3)
    def work(key: str) -> int:
        asked.append(key)
        return int(key)

    for number in range(100, 200):
        assert work(f"{number}") == number
        assert work("100") == 100
    assert asked == [f"{number}" for number in range(100, 200)]
    for number in reversed(range(100, 200)):
        assert work(f"{number}") == number
    assert 90 <= len(asked) - 100 <= 95


def test_a_result_larger_than_all_room_is_not_remembered() -> None:
    """It is worked out each time."""
    asked = []

    @remember(most_bytes=ENTRY, longest_key=3)
    def work(key: str) -> None:
        asked.append(key)

    for _ in range(2):
        work("a")
    assert asked == ["a", "a"]
