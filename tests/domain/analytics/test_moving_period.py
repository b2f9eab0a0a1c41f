"""Periods that move with the time."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from backend.domain.analytics.input import parse_query
from backend.domain.analytics.moving_period import MovingPeriod
from backend.domain.analytics.period import WeekStart
from backend.domain.errors import InvalidField

# A Sunday in UTC, and already Monday in Berlin, on the day after clocks were put forward there.
NOW = datetime(2026, 3, 29, 22, 7, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")
PERIODS = {
    "today": ("2026-03-30T00:00+02:00", "2026-03-30T00:15+02:00"),
    "yesterday": ("2026-03-29T00:00+01:00", "2026-03-30T00:00+02:00"),
    "last_7_days": ("2026-03-24T00:00+01:00", "2026-03-30T00:15+02:00"),
    "last_28_days": ("2026-03-03T00:00+01:00", "2026-03-30T00:15+02:00"),
    "last_90_days": ("2025-12-31T00:00+01:00", "2026-03-30T00:15+02:00"),
    "this_week": ("2026-03-30T00:00+02:00", "2026-03-30T00:15+02:00"),
    "last_week": ("2026-03-23T00:00+01:00", "2026-03-30T00:00+02:00"),
    "this_month": ("2026-03-01T00:00+01:00", "2026-03-30T00:15+02:00"),
    "last_month": ("2026-02-01T00:00+01:00", "2026-03-01T00:00+01:00"),
    "this_year": ("2026-01-01T00:00+01:00", "2026-03-30T00:15+02:00"),
    "last_year": ("2025-01-01T00:00+01:00", "2026-01-01T00:00+01:00"),
}


@pytest.mark.parametrize("moving", MovingPeriod)
def test_each_period_is_of_the_zone_s_days(moving: MovingPeriod) -> None:
    """It begins at a midnight of the zone; with today it ends with the current quarter of an hour."""
    period = moving.at(NOW, BERLIN)
    assert (period.start, period.end) == tuple(map(datetime.fromisoformat, PERIODS[moving]))


def test_weeks_begin_as_the_organization_says() -> None:
    """On Sunday the week before is over for those whose weeks begin then."""
    last = MovingPeriod.LAST_WEEK.at(NOW, ZoneInfo("UTC"), WeekStart.SUNDAY)
    assert (last.start.day, last.end.day) == (22, 29)


def test_a_period_begins_and_ends_at_midnight_itself() -> None:
    """At midnight today has just begun, and is a quarter of an hour already."""
    midnight = datetime(2026, 3, 2, tzinfo=UTC)
    today = MovingPeriod.TODAY.at(midnight, ZoneInfo("UTC"))
    assert (today.start, today.end) == (midnight, midnight.replace(minute=15))


def test_a_query_names_its_period_in_one_way() -> None:
    """Period stands for from and to, in the query's time zone; beside them it is refused."""
    query = parse_query({"period": "last_month", "timezone": "Europe/Berlin"}, NOW)
    assert query.period == MovingPeriod.LAST_MONTH.at(NOW, BERLIN)
    with pytest.raises(InvalidField, match="period can't be given together with from and to"):
        parse_query({"period": "today", "from": "2026-01-01", "to": "2026-01-02"}, NOW)
    with pytest.raises(InvalidField, match="period must be one of today, yesterday, last_7_days"):
        parse_query({"period": "last_5_days"}, NOW)
