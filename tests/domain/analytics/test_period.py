"""Periods of queries: days, weeks, months and hours of a time zone, and what they are compared with."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, available_timezones

import pytest

from backend.domain.analytics.period import Comparison, QueryPeriod, TimeField
from backend.domain.errors import InvalidField

QUARTER = timedelta(minutes=15)


def period(start: str, end: str, zone: str) -> QueryPeriod:
    """The time between two local times."""
    local = [datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)) for text in (start, end)]
    return QueryPeriod(local[0].astimezone(UTC), local[1].astimezone(UTC), ZoneInfo(zone))


def lengths(of: QueryPeriod, field: TimeField) -> dict[str | None, int]:
    """How many quarters of an hour each part has."""
    return {span.label: span.end - span.first for span in of.spans(field)}


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
    hours = lengths(period("2026-10-25", "2026-10-25T04:00", "Europe/Berlin"), TimeField.HOUR)
    assert list(hours) == [
        "2026-10-25T00:00+02:00", "2026-10-25T01:00+02:00", "2026-10-25T02:00+02:00",
        "2026-10-25T02:00+01:00", "2026-10-25T03:00+01:00",
    ]  # fmt: skip
    assert set(hours.values()) == {4}


def test_offsets_of_no_whole_hour() -> None:
    """A day in Kathmandu begins at a quarter past six in the evening, in UTC."""
    spans = period("2026-03-01", "2026-03-03", "Asia/Kathmandu").spans(TimeField.DAY)
    assert [datetime.fromtimestamp(span.first * 900, UTC).isoformat() for span in spans] == [
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
        assert [span.end for span in spans[:-1]] == [span.first for span in spans[1:]]
        assert spans[0].first * 900 == of.start.timestamp()
        assert spans[-1].end * 900 == of.end.timestamp()
        assert len({span.label for span in spans}) == len(spans)


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
    ("most", "start", "end"),
    [
        (3_660, "2016-10-22", "2026-10-30"),
        (400, "2024-10-01", "2025-11-05"),
        (1, "2026-10-25", "2026-10-26"),
    ],
)
def test_limits_count_days_of_the_clock(most: int, start: str, end: str) -> None:
    """A period in which the clock is put back has an hour more, and as many days; a quarter more is a day."""
    longest = period(start, end, "Europe/Berlin")
    assert longest.end - longest.start == timedelta(days=most, hours=1)
    longest.check_days(most)
    with pytest.raises(InvalidField):
        period(start, f"{end}T00:15", "Europe/Berlin").check_days(most)


@pytest.mark.parametrize(
    ("zone", "start", "end", "before"),
    [
        ("UTC", "2026-03-09", "2026-03-16", ("2026-03-02", "2026-03-09")),
        # Four days that are not over: the four days before them, until the same time.
        ("UTC", "2026-03-09", "2026-03-12T15:00", ("2026-03-05", "2026-03-08T15:00")),
        ("UTC", "2026-03-09T06:00", "2026-03-09T12:00", ("2026-03-08T06:00", "2026-03-08T12:00")),
        # Days of the zone, although one of them has 23 hours.
        ("Europe/Berlin", "2026-03-29", "2026-03-31", ("2026-03-27", "2026-03-29")),
        # A month, three, and what are months in another zone only.
        ("Europe/Berlin", "2026-03-01", "2026-04-01", ("2026-02-01", "2026-03-01")),
        ("Europe/Berlin", "2026-01-01", "2026-04-01", ("2025-10-01", "2026-01-01")),
        ("UTC", "2026-03-01T01:00", "2026-04-01T01:00", ("2026-01-29T01:00", "2026-03-01T01:00")),
        # Here clocks were put forward at midnight, so that the month began at one.
        ("America/Sao_Paulo", "2015-10-01", "2015-11-01", ("2015-09-01", "2015-10-01")),
    ],
)
def test_the_period_before(zone: str, start: str, end: str, before: tuple[str, str]) -> None:
    """The calendar months before whole months; else as many days before, by the clock of the zone."""
    compared = period(start, end, zone).compared(Comparison.PREVIOUS)
    expected = period(*before, zone)
    assert (compared.start, compared.end) == (expected.start, expected.end)


@pytest.mark.parametrize(
    ("start", "end", "before"),
    [
        ("2028-02-29", "2028-03-01", ("2027-03-02", "2027-03-03")),
        ("2026-03-09", "2026-03-16", ("2025-03-10", "2025-03-17")),
        ("2028-02-01", "2028-03-01", ("2027-02-01", "2027-03-01")),
        ("2027-01-01", "2028-01-01", ("2026-01-01", "2027-01-01")),
    ],
)
def test_a_year_before(start: str, end: str, before: tuple[str, str]) -> None:
    """Days are compared with the same weekdays, the leap day too; whole months with the same months."""
    now, expected = period(start, end, "Europe/Berlin"), period(*before, "Europe/Berlin")
    compared = now.compared(Comparison.YEAR)
    assert (compared.start, compared.end) == (expected.start, expected.end)
    if not now.whole_months:
        assert compared.start.astimezone(now.zone).weekday() == now.start.astimezone(now.zone).weekday()


def counterparts(of: QueryPeriod, field: TimeField, comparison: Comparison) -> list[tuple[str | None, str]]:
    """The days, or hours, that begin what each part is compared with, under the part's label."""
    form = "%m-%dT%H" if field is TimeField.HOUR else "%m-%d"
    spans = of.compared_spans(field, comparison)
    return [(span.label, f"{datetime.fromtimestamp(span.first * 900, of.zone):{form}}") for span in spans]


def test_days_of_months_are_compared_by_their_numbers() -> None:
    """31 March has no counterpart in February, and what January has more is nobody's."""
    march = counterparts(period("2026-03-01", "2026-04-01", "UTC"), TimeField.DAY, Comparison.PREVIOUS)
    assert march == [(f"2026-03-{day:02d}", f"02-{day:02d}") for day in range(1, 29)]
    *days, more = counterparts(period("2026-02-01", "2026-03-01", "UTC"), TimeField.DAY, Comparison.PREVIOUS)
    assert days == [(f"2026-02-{day:02d}", f"01-{day:02d}") for day in range(1, 29)]
    assert more == (None, "01-29")
    leap = period("2028-02-01", "2028-03-01", "UTC")
    assert counterparts(leap, TimeField.DAY, Comparison.YEAR)[-1] == ("2028-02-28", "02-28")


def test_weeks_and_hours_of_months_are_compared_by_the_numbers_of_their_days() -> None:
    """A week is compared with the days of its numbers, an hour with the same hour of such a day."""
    two = period("2026-02-01", "2026-04-01", "UTC")
    assert counterparts(two, TimeField.WEEK, Comparison.PREVIOUS)[4:7] == [
        ("2026-02-23", "12-23"), (None, "12-29"), ("2026-02-23", "01-01"),
    ]  # fmt: skip
    assert counterparts(two, TimeField.MONTH, Comparison.PREVIOUS) == [
        ("2026-02", "12-01"),
        ("2026-03", "01-01"),
    ]
    hours = counterparts(
        period("2026-03-01", "2026-04-01", "Europe/Berlin"), TimeField.HOUR, Comparison.PREVIOUS
    )
    assert hours[25] == ("2026-03-02T01:00+01:00", "02-02T01")
    assert len(hours) == 28 * 24


@pytest.mark.parametrize(
    ("start", "end", "field", "partial"),
    [
        ("2026-01-29", "2026-03-03", TimeField.DAY, []),
        ("2026-01-29", "2026-03-03", TimeField.WEEK, ["2026-01-26", "2026-03-02"]),
        ("2026-01-29", "2026-03-03", TimeField.MONTH, ["2026-01", "2026-03"]),
        ("2026-01-26", "2026-03-02", TimeField.WEEK, []),
        ("2026-01-01", "2026-03-01", TimeField.MONTH, []),
        ("2026-01-29T06:00", "2026-01-29T12:00", TimeField.DAY, ["2026-01-29"]),
        ("2026-01-29T06:15", "2026-01-29T08:00", TimeField.HOUR, ["2026-01-29T06:00+01:00"]),
    ],
)
def test_parts_that_the_period_cuts(start: str, end: str, field: TimeField, partial: list[str]) -> None:
    """The first and the last one are told, where only a part of them is there."""
    assert period(start, end, "Europe/Berlin").partial_labels(field, None) == partial


def test_parts_that_are_not_over() -> None:
    """Of a period that goes on, the part that is now and those to come; at its very end it is over."""
    week = period("2026-03-09", "2026-03-16", "UTC")
    wednesday = datetime(2026, 3, 11, 15, 20, tzinfo=UTC)
    assert week.partial_labels(TimeField.WEEK, wednesday) == ["2026-03-09"]
    assert week.partial_labels(TimeField.DAY, wednesday) == [f"2026-03-{day}" for day in range(11, 16)]
    assert week.partial_labels(TimeField.DAY, datetime(2026, 3, 16, tzinfo=UTC)) == []


@pytest.mark.parametrize(
    "times",
    [("2026-03-01T05:15", "2026-04-09T07:00"), ("2026-03-01", "2026-05-01"), ("2026-10-01", "2026-12-01")],
)
@pytest.mark.parametrize("field", TimeField)
@pytest.mark.parametrize("comparison", Comparison)
def test_compared_parts_fill_the_compared_period(
    field: TimeField, comparison: Comparison, times: tuple[str, str]
) -> None:
    """Also where clocks were changed in one of the two periods."""
    for zone in ("Europe/Berlin", "Australia/Lord_Howe", "Africa/Casablanca", "America/Havana"):
        of = period(*times, zone)
        spans = list(of.compared_spans(field, comparison))
        compared = of.compared(comparison)
        assert [span.end for span in spans[:-1]] == [span.first for span in spans[1:]]
        assert spans[0].first * 900 == compared.start.timestamp()
        assert spans[-1].end * 900 == compared.end.timestamp()


def test_a_compared_period_of_no_time() -> None:
    """An hour that clocks left out the day before is compared with nothing, also about midnight in UTC."""
    of = period("2026-03-30T02:00", "2026-03-30T03:00", "Europe/Chisinau")
    spans = of.compared_spans(None, Comparison.PREVIOUS)
    assert [span.end - span.first for span in spans] == [0]
    assert not any(spans.is_cut(day) for day in spans.days)
