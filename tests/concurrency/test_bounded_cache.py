"""A cache that strangers can't fill."""

from __future__ import annotations

from backend.concurrency.bounded_cache import ENTRY_BYTES, remember


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

    @remember(most_bytes=10 * (ENTRY_BYTES + 3), longest_key=3)
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

    @remember(most_bytes=ENTRY_BYTES, longest_key=3)
    def work(key: str) -> None:
        asked.append(key)

    for _ in range(2):
        work("a")
    assert asked == ["a", "a"]
