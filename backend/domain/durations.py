"""How long something took, in words."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

_UNITS = (("day", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def duration_words(took: timedelta) -> str:
    """A time in its two largest units: "3 days 4 h", "12 min 5 s", "0 s"."""
    left = round(took.total_seconds())
    for (unit, size), (next_unit, next_size) in pairwise(_UNITS):
        if left >= size:
            count, more = left // size, left % size // next_size
            return _counted(count, unit) + (f" {_counted(more, next_unit)}" if more else "")
    return f"{left} s"


def _counted(count: int, unit: str) -> str:
    return f"{count} {unit}{'s' * (unit == 'day' and count != 1)}"
