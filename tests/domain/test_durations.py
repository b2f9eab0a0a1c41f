"""Times in words."""

from __future__ import annotations

from datetime import timedelta

import pytest

from backend.domain.durations import duration_words


@pytest.mark.parametrize(
    ("took", "words"),
    [
        (timedelta(), "0 s"),
        (timedelta(milliseconds=59_600), "1 min"),
        (timedelta(minutes=12, seconds=5), "12 min 5 s"),
        (timedelta(hours=23, minutes=59, seconds=59), "23 h 59 min"),
        (timedelta(days=1), "1 day"),
        (timedelta(days=3, hours=4, minutes=50), "3 days 4 h"),
    ],
)
def test_the_two_largest_units(took: timedelta, words: str) -> None:
    """Smaller units are left out, and so is a unit of which there are none."""
    assert duration_words(took) == words
