"""Exact counts of installs for rolling windows, at a cost that does not grow with their number.

Each install adds one to four buckets of its link: the total, its day (split by hour), its hour (split by
minute) and its minute (split by second). The count of a window is the sum of its whole days, plus the rest of
the day, hour and minute in which the window starts: about forty small buckets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

LONG_WINDOW = timedelta(days=30)
SHORT_WINDOW = timedelta(days=7)
# How long the buckets of hours and minutes are needed: only the first hour and minute of a window are read.
FINE_BUCKETS_KEPT = LONG_WINDOW + timedelta(days=2)
TOTAL = "total"
_ALL = "all"
_BUCKET = re.compile(
    r"day/\d{4}-\d\d-\d\d|hour/\d{4}-\d\d-\d\dT\d\d|minute/\d{4}-\d\d-\d\dT\d\d:\d\d", re.ASCII
)

# The counts of one bucket by its parts: a day's by hour, a minute's by second.
Parts = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class WindowCounts:
    """Counts of a link in total and in the last 30 and 7 days (contract, "Click analytics object")."""

    total: int
    last_30_days: int
    last_7_days: int


NO_CLICKS = WindowCounts(0, 0, 0)


def bucket_parts(at: datetime) -> dict[str, str]:
    """The four buckets to which an event at this time adds one: bucket name -> part of the bucket."""
    at = at.astimezone(UTC)
    return {TOTAL: _ALL, _day(at): str(at.hour), _hour(at): str(at.minute), _minute(at): str(at.second)}


def is_bucket(name: str) -> bool:
    """Whether the text is a valid bucket name, such as `total` or `day/2026-01-31`."""
    return name == TOTAL or _BUCKET.fullmatch(name) is not None


def is_fine(bucket: str) -> bool:
    """Whether the bucket is an hour or a minute.

    Such a bucket can be deleted once no window can start in it.
    """
    return bucket.startswith(("hour/", "minute/"))


def buckets_of_windows(now: datetime) -> set[str]:
    """Names of the buckets that `window_counts` needs at this time."""
    names = {TOTAL, *_days_from(now - LONG_WINDOW, now)}
    for start in starts_of_windows(now):
        names |= {_hour(start), _minute(start)}
    return names


def starts_of_windows(now: datetime) -> tuple[datetime, datetime]:
    """When the two windows start."""
    return now - LONG_WINDOW, now - SHORT_WINDOW


def window_counts(buckets: Mapping[str, Parts], now: datetime) -> WindowCounts:
    """Counts up to `now`, computed from the buckets that `buckets_of_windows` names.

    A missing bucket counts as empty. A window starts exactly 30 (or 7) days before `now`, rounded down to a
    whole second; that second is included.
    """
    now = now.astimezone(UTC)
    return WindowCounts(
        total=sum(buckets.get(TOTAL, {}).values()),
        last_30_days=_count_from(buckets, now - LONG_WINDOW, now),
        last_7_days=_count_from(buckets, now - SHORT_WINDOW, now),
    )


def _count_from(buckets: Mapping[str, Parts], start: datetime, now: datetime) -> int:
    later_days = (buckets.get(day, {}) for day in _days_from(start + timedelta(days=1), now))
    return (
        _sum_from(buckets.get(_minute(start), {}), start.second)
        + _sum_from(buckets.get(_hour(start), {}), start.minute + 1)
        + _sum_from(buckets.get(_day(start), {}), start.hour + 1)
        + sum(sum(parts.values()) for parts in later_days)
    )


def _sum_from(parts: Parts, first: int) -> int:
    return sum(count for part, count in parts.items() if int(part) >= first)


def _days_from(start: datetime, now: datetime) -> Iterable[str]:
    # One day more than today: at midnight, the clock of another process may be ahead of this one.
    days = (now.astimezone(UTC).date() - start.astimezone(UTC).date()).days + 1
    return [_day(start + timedelta(days=number)) for number in range(days + 1)]


def _day(at: datetime) -> str:
    return f"day/{at.astimezone(UTC):%Y-%m-%d}"


def _hour(at: datetime) -> str:
    return f"hour/{at.astimezone(UTC):%Y-%m-%dT%H}"


def _minute(at: datetime) -> str:
    return f"minute/{at.astimezone(UTC):%Y-%m-%dT%H:%M}"
