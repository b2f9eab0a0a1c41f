"""Periods of queries: days, weeks, months and hours of a time zone, and what they are compared with."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, available_timezones

import pytest

from backend.domain.errors import InvalidField
from backend.domain.query_period import Comparison, QueryPeriod, TimeField

QUARTER = timedelta(minutes=15)


def period(start: str, end: str, zone: str) -> QueryPeriod:
    """The time between two local times."""
    local = [datetime.fromisoformat(each).replace(tzinfo=ZoneInfo(zone)) for each in (start, end)]
    return QueryPeriod(local[0].astimezone(UTC), local[1].astimezone(UTC), ZoneInfo(zone))


def lengths(of: QueryPeriod, field: TimeField) -> dict[str | None, int]:
    """How many quarters of an hour each part has."""
    return {each.label: each.end - each.first for each in of.spans(field)}


def test_days_with_a_changed_clock() -> None:
    """The day on which clocks are put forward has 23 hours, the one on which they are put back has 25."""
    assert lengths(period("2026-03-28", "2026-03-31", "Europe/Berlin"), TimeField.DAY) == {
        "2026-03-28": 96, "2026-03-29": 92, "2026-03-30": 96,
    }  # fmt: skip
    assert lengths(period("2026-10-25", "2026-10-26", "Europe/Berlin"), TimeField.DAY) == {"2026-10-25": 100}
    assert lengths(period("2026-04-05", "2026-04-06", "Australia/Lord_Howe"), TimeField.DAY) == {
        "2026-04-05": 98
    }


def test_an_hour_that_comes_twice() -> None:
    """Each of the two has a row of its own, told apart by the offset."""
    found = lengths(period("2026-10-25", "2026-10-25T04:00", "Europe/Berlin"), TimeField.HOUR)
    assert list(found) == [
        "2026-10-25T00:00+02:00", "2026-10-25T01:00+02:00", "2026-10-25T02:00+02:00",
        "2026-10-25T02:00+01:00", "2026-10-25T03:00+01:00",
    ]  # fmt: skip
    assert set(found.values()) == {4}


def test_offsets_of_no_whole_hour() -> None:
    """A day in Kathmandu begins at a quarter past six in the evening, in UTC."""
    found = period("2026-03-01", "2026-03-03", "Asia/Kathmandu").spans(TimeField.DAY)
    assert [datetime.fromtimestamp(each.first * 900, UTC).isoformat() for each in found] == [
        "2026-02-28T18:15:00+00:00", "2026-03-01T18:15:00+00:00",
    ]  # fmt: skip


def test_weeks_and_months_are_cut_by_the_period() -> None:
    """A week is named by its Monday and a month by itself, also where the period has only a part of them."""
    some = period("2026-01-29", "2026-03-03", "UTC")
    assert lengths(some, TimeField.MONTH) == {"2026-01": 3 * 96, "2026-02": 28 * 96, "2026-03": 2 * 96}
    weeks = lengths(some, TimeField.WEEK)
    assert next(iter(weeks)) == "2026-01-26"
    assert list(weeks.values()) == [4 * 96, 7 * 96, 7 * 96, 7 * 96, 7 * 96, 96]


@pytest.mark.parametrize("field", [*TimeField, None])
def test_parts_fill_the_period(field: TimeField | None) -> None:
    """In every time zone, across its changes of clocks: without gap, overlap or a name twice."""
    for zone in sorted(available_timezones())[:: 40 if field is TimeField.HOUR else 5]:
        of = QueryPeriod(
            datetime(2026, 2, 3, 4, 15, tzinfo=UTC), datetime(2026, 4, 9, tzinfo=UTC), ZoneInfo(zone)
        )
        spans = list(of.spans(field))
        assert [each.end for each in spans[:-1]] == [each.first for each in spans[1:]]
        assert spans[0].first * 900 == of.start.timestamp()
        assert spans[-1].end * 900 == of.end.timestamp()
        assert len({each.label for each in spans}) == len(spans)


@pytest.mark.parametrize(
    ("start", "end", "field"),
    [
        ("2026-03-02", "2026-03-01", "to"),
        ("2026-03-02", "2026-03-02", "to"),
        ("1026-03-02", "2026-03-02", "from"),
        ("2026-03-02", "3026-03-02", "to"),
        ("2012-03-02", "2026-03-02", "from"),
        ("2026-03-02T12:01", "2026-03-03", "from"),
        ("2026-03-02", "2026-03-03T00:00:01", "to"),
    ],
)
def test_periods_that_cannot_be(start: str, end: str, field: str) -> None:
    """Turned round, empty, too long, out of all time, or with an end that counts don't know."""
    with pytest.raises(InvalidField) as refused:
        period(start, end, "UTC")
    assert refused.value.field == field


@pytest.mark.parametrize(
    ("zone", "start", "end", "before"),
    [
        ("UTC", "2026-03-09", "2026-03-16", ("2026-03-02", "2026-03-09")),
        # A week that is not over: the same part of the week before.
        ("UTC", "2026-03-09", "2026-03-12T15:00", ("2026-03-05", "2026-03-08T15:00")),
        ("UTC", "2026-03-09T06:00", "2026-03-09T12:00", ("2026-03-08T06:00", "2026-03-08T12:00")),
        # Days of the zone, although one of them has 23 hours.
        ("Europe/Berlin", "2026-03-29", "2026-03-31", ("2026-03-27", "2026-03-29")),
    ],
)
def test_the_period_before(zone: str, start: str, end: str, before: tuple[str, str]) -> None:
    """As many whole days before as the period has, rounded up, by the clock of the zone."""
    found = period(start, end, zone).compared(Comparison.PREVIOUS)
    wanted = period(*before, zone)
    assert (found.start, found.end) == (wanted.start, wanted.end)


def test_a_year_before() -> None:
    """By the date: the leap day has no counterpart, and the days around it have theirs."""
    of = period("2028-02-28", "2028-03-02", "Europe/Berlin")
    spans = of.compared_spans(TimeField.DAY, Comparison.YEAR)
    begins = {
        each.label: datetime.fromtimestamp(each.first * 900, of.zone).isoformat()[:10] for each in spans
    }
    assert begins == {"2028-02-28": "2027-02-28", "2028-03-01": "2027-03-01"}
    assert list(spans.labels) == ["2028-02-28", "2028-02-29", "2028-03-01"]


@pytest.mark.parametrize("field", TimeField)
@pytest.mark.parametrize("comparison", Comparison)
def test_compared_parts_fill_the_compared_period(field: TimeField, comparison: Comparison) -> None:
    """Also where clocks were changed in one of the two periods."""
    for zone in ("Europe/Berlin", "Australia/Lord_Howe", "Africa/Casablanca", "America/Havana"):
        of = period("2026-03-01T05:15", "2026-04-09T07:00", zone)
        spans = list(of.compared_spans(field, comparison))
        compared = of.compared(comparison)
        assert [each.end for each in spans[:-1]] == [each.first for each in spans[1:]]
        assert spans[0].first * 900 == compared.start.timestamp()
        assert spans[-1].end * 900 == compared.end.timestamp()


def test_a_compared_period_of_no_time() -> None:
    """An hour that clocks left out the day before is compared with nothing, also about midnight in UTC."""
    of = period("2026-03-30T02:00", "2026-03-30T03:00", "Europe/Chisinau")
    spans = of.compared_spans(None, Comparison.PREVIOUS)
    assert [each.end - each.first for each in spans] == [0]
    assert not any(spans.is_cut(day) for day in spans.days)
