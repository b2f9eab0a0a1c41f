"""Counts over rolling windows, exact at the second, at a cost that no number of clicks changes.

Each thing counted adds one to four buckets of its link: the total, its day (by hour), its hour (by minute)
and its minute (by second). A window is then whole days plus what its first day, hour and minute hold after
its first second: about forty small buckets, whatever happened in them.
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

# The parts of one bucket and how many each holds: of a day its hours, of a minute its seconds.
Parts = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class WindowCounts:
    """How often something happened to a link (contract, "Click analytics object")."""

    total: int
    last_30_days: int
    last_7_days: int


def bucket_parts(at: datetime) -> dict[str, str]:
    """The buckets that a moment adds one to, by name, each with the part of it."""
    at = at.astimezone(UTC)
    return {TOTAL: _ALL, _day(at): str(at.hour), _hour(at): str(at.minute), _minute(at): str(at.second)}


def is_bucket(name: str) -> bool:
    """Whether a bucket may have this name."""
    return name == TOTAL or _BUCKET.fullmatch(name) is not None


def is_fine(bucket: str) -> bool:
    """Whether a bucket is only needed until no window can begin in it any more."""
    return bucket.startswith(("hour/", "minute/"))


def buckets_of_windows(now: datetime) -> set[str]:
    """The buckets that `window_counts` reads at this time."""
    names = {TOTAL, *_days_from(now - LONG_WINDOW, now)}
    for start in (now - LONG_WINDOW, now - SHORT_WINDOW):
        names |= {_hour(start), _minute(start)}
    return names


def window_counts(buckets: Mapping[str, Parts], now: datetime) -> WindowCounts:
    """The counts at `now` from the buckets that `buckets_of_windows` names; one that is missing is empty.

    A window begins with the second that lies 30 (or 7) days before the second of `now`, that one included.
    """
    now = now.astimezone(UTC)
    return WindowCounts(
        total=sum(buckets.get(TOTAL, {}).values()),
        last_30_days=_count_from(buckets, now - LONG_WINDOW, now),
        last_7_days=_count_from(buckets, now - SHORT_WINDOW, now),
    )


@dataclass(frozen=True, slots=True)
class Count:
    """How often something happened in the hour or day (in UTC) that begins at `start`."""

    start: datetime
    count: int


def days_of_chart(now: datetime, days: int) -> list[str]:
    """The buckets of the last `days` days, the one of `now` included, oldest first."""
    return [_day(now - timedelta(days=number)) for number in reversed(range(days))]


def counts_by_day(buckets: Mapping[str, Parts], now: datetime, days: int) -> list[Count]:
    """A count for each of the last `days` days, today included, from the buckets of `days_of_chart`."""
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    starts = (today - timedelta(days=number) for number in reversed(range(days)))
    return [Count(start, sum(buckets.get(_day(start), {}).values())) for start in starts]


def counts_by_hour(buckets: Mapping[str, Parts], now: datetime) -> list[Count]:
    """A count for each of the last 24 hours, this one included, from the buckets of two days."""
    hour = now.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    starts = (hour - timedelta(hours=number) for number in reversed(range(24)))
    return [Count(start, buckets.get(_day(start), {}).get(str(start.hour), 0)) for start in starts]


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
    # One day more than now's: another process's clock may be ahead of this one's at midnight.
    days = (now.astimezone(UTC).date() - start.astimezone(UTC).date()).days + 1
    return [_day(start + timedelta(days=number)) for number in range(days + 1)]


def _day(at: datetime) -> str:
    return f"day/{at.astimezone(UTC):%Y-%m-%d}"


def _hour(at: datetime) -> str:
    return f"hour/{at.astimezone(UTC):%Y-%m-%dT%H}"


def _minute(at: datetime) -> str:
    return f"minute/{at.astimezone(UTC):%Y-%m-%dT%H:%M}"
