"""Periods that move with the time, such as the last 28 days: what saved views and bookmarks ask for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from backend.domain.analytics.period import QUARTER_SECONDS, QueryPeriod, WeekStart

_DAY = timedelta(days=1)
_QUARTER = timedelta(seconds=QUARTER_SECONDS)


class MovingPeriod(StrEnum):
    """A period by its place before today, in days of a time zone.

    Those that include today end with the current quarter of an hour, so that a comparison has as much of a
    day. The others are whole days, and so whole weeks, months or years.
    """

    TODAY = "today"
    YESTERDAY = "yesterday"
    LAST_7_DAYS = "last_7_days"
    LAST_28_DAYS = "last_28_days"
    LAST_90_DAYS = "last_90_days"
    THIS_WEEK = "this_week"
    LAST_WEEK = "last_week"
    THIS_MONTH = "this_month"
    LAST_MONTH = "last_month"
    THIS_YEAR = "this_year"
    LAST_YEAR = "last_year"

    @property
    def words(self) -> str:
        """What people call it, such as "last 28 days"."""
        return self.value.replace("_", " ")

    def at(self, now: datetime, zone: ZoneInfo, week_starts: WeekStart = WeekStart.MONDAY) -> QueryPeriod:
        """The period as it is at this time. Raises InvalidField if that is before or after all periods."""
        first, end = self._days(now.astimezone(zone).date(), week_starts)
        start_at = _midnight(first, zone)
        end_at = _midnight(end, zone) if end else max(_end_of_quarter(now), start_at + _QUARTER)
        return QueryPeriod(start_at, end_at, zone, week_starts)

    def _days(self, today: date, week_starts: WeekStart) -> tuple[date, date | None]:
        """The first day, and the one after the last; None if it goes on now."""
        if self in _LAST_DAYS:
            return today - (_LAST_DAYS[self] - 1) * _DAY, None
        which, unit = self.value.split("_") if "_" in self else (_WHICH_DAY[self], "day")
        begin = _BEGIN_OF[unit](today, week_starts)
        return (begin, None) if which == "this" else (_BEGIN_OF[unit](begin - _DAY, week_starts), begin)


# Today included.
_LAST_DAYS = {MovingPeriod.LAST_7_DAYS: 7, MovingPeriod.LAST_28_DAYS: 28, MovingPeriod.LAST_90_DAYS: 90}

_WHICH_DAY = {MovingPeriod.TODAY: "this", MovingPeriod.YESTERDAY: "last"}


def _begin_of_week(day: date, week_starts: WeekStart) -> date:
    return day - (day.weekday() + (week_starts is WeekStart.SUNDAY)) % 7 * _DAY


_BEGIN_OF: Mapping[str, Callable[[date, WeekStart], date]] = {
    "day": lambda day, _: day,
    "week": _begin_of_week,
    "month": lambda day, _: day.replace(day=1),
    "year": lambda day, _: day.replace(month=1, day=1),
}


def _midnight(day: date, zone: ZoneInfo) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=zone).astimezone(UTC)


def _end_of_quarter(now: datetime) -> datetime:
    seconds = -(-now.timestamp() // QUARTER_SECONDS) * QUARTER_SECONDS
    return datetime.fromtimestamp(seconds, UTC)
