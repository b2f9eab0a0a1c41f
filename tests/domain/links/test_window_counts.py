"""Counts over rolling windows."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from backend.domain.links.window_counts import (
    LONG_WINDOW,
    SHORT_WINDOW,
    WindowCounts,
    bucket_parts,
    buckets_of_windows,
    window_counts,
)
from tests.examples import examples

NOW = datetime(2026, 3, 1, 12, 30, 15, tzinfo=UTC)


def buckets(moments: list[datetime]) -> dict[str, Counter[str]]:
    """The buckets that these moments fill."""
    filled: dict[str, Counter[str]] = {}
    for at in moments:
        for bucket, part in bucket_parts(at).items():
            filled.setdefault(bucket, Counter())[part] += 1
    return filled


def counted_one_by_one(moments: list[datetime], now: datetime) -> WindowCounts:
    """The same counts, by looking at every moment."""

    def since(window: timedelta) -> int:
        return sum(at.replace(microsecond=0) >= now.replace(microsecond=0) - window for at in moments)

    return WindowCounts(len(moments), since(LONG_WINDOW), since(SHORT_WINDOW))


@settings(max_examples=examples(100), deadline=None)
@given(
    now=st.integers(0, 4 * 365 * 86400).map(lambda seconds: NOW + timedelta(seconds=seconds)),
    ages=st.lists(
        st.one_of(
            st.integers(0, 40 * 86400),
            st.integers(7 * 86400 - 90, 7 * 86400 + 90),
            st.integers(30 * 86400 - 3700, 30 * 86400 + 3700),
        ),
        max_size=40,
    ),
)
def test_buckets_count_what_looking_at_every_moment_counts(now: datetime, ages: list[int]) -> None:
    """Whatever the time and the ages, the buckets named for a window give its exact count."""
    moments = [now - timedelta(seconds=age) for age in ages]
    filled = buckets(moments)
    read = {name: filled[name] for name in buckets_of_windows(now) if name in filled}
    assert window_counts(read, now) == counted_one_by_one(moments, now)


def test_a_window_ends_at_the_second() -> None:
    """A click counts until exactly 30 days have passed, and no second longer."""
    filled = buckets([NOW])
    assert window_counts(filled, NOW + LONG_WINDOW).last_30_days == 1
    assert window_counts(filled, NOW + LONG_WINDOW + timedelta(seconds=1)).last_30_days == 0


def test_the_number_of_buckets_is_fixed() -> None:
    """What is read does not grow with clicks, nor with the age of a link."""
    assert len(buckets_of_windows(NOW)) == len(buckets_of_windows(NOW + timedelta(days=3650, hours=5))) <= 40
