"""Where charts show annotations."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from backend.domain.analytics.period import QueryPeriod, TimeField
from backend.domain.annotations.annotation import NotedTime
from backend.domain.annotations.placing import span_of

BERLIN, AUCKLAND = ZoneInfo("Europe/Berlin"), ZoneInfo("Pacific/Auckland")


def label(noted: NotedTime, zone: ZoneInfo, field: TimeField, hours: int = 0) -> str | None:
    """The label of the span with the note, of a period of March that begins so many hours after midnight."""
    start = datetime(2026, 3, 1, tzinfo=zone) + timedelta(hours=hours)
    period = QueryPeriod(start, datetime(2026, 4, 1, tzinfo=zone), zone)
    span = span_of(noted, period, period.spans(field))
    return span.label if span else None


def at(text: str) -> NotedTime:
    """A note of a time in UTC."""
    return NotedTime(datetime.fromisoformat(text).replace(tzinfo=UTC), is_of_day=False)


@pytest.mark.parametrize("zone", [BERLIN, AUCKLAND, ZoneInfo("America/Los_Angeles")])
def test_a_day_is_that_day_in_every_zone(zone: ZoneInfo) -> None:
    """Also on the days on which clocks change, and as the first hour of a day by the hour."""
    for day in (1, 8, 29, 31):
        noted = NotedTime.of_day(date(2026, 3, day))
        assert label(noted, zone, TimeField.DAY) == f"2026-03-{day:02}"
        hour = label(noted, zone, TimeField.HOUR)
        assert hour
        assert hour.startswith(f"2026-03-{day:02}T00:00")
    for other in (date(2026, 2, 28), date(2026, 4, 1)):
        assert label(NotedTime.of_day(other), zone, TimeField.DAY) is None


def test_a_time_is_where_the_zone_has_it() -> None:
    """The last quarter of an hour of a day in one zone is the next day in another."""
    noted = at("2026-03-02T22:59:59")
    assert label(noted, BERLIN, TimeField.DAY) == "2026-03-02"
    assert label(noted, AUCKLAND, TimeField.DAY) == "2026-03-03"
    assert label(noted, BERLIN, TimeField.WEEK) == "2026-03-02"
    assert label(at("2026-02-28T22:59:59"), BERLIN, TimeField.DAY) is None


def test_a_day_that_the_period_cuts() -> None:
    """Its note stands where the period begins; a time before that is of no part."""
    noted = NotedTime.of_day(date(2026, 3, 1))
    assert label(noted, BERLIN, TimeField.HOUR, hours=14) == "2026-03-01T14:00+01:00"
    assert label(at("2026-03-01T08:00:00"), BERLIN, TimeField.HOUR, hours=14) is None


def test_zones_without_names() -> None:
    """A fixed offset is a zone too."""
    period = QueryPeriod(
        datetime(2026, 3, 1, tzinfo=UTC),
        datetime(2026, 3, 3, tzinfo=UTC),
        timezone(timedelta(hours=5, minutes=45)),
    )
    span = span_of(NotedTime.of_day(date(2026, 3, 2)), period, period.spans(TimeField.DAY))
    assert span
    assert span.label == "2026-03-02"
