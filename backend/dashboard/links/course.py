"""A link's clicks and visitors over time, in days or hours of a time zone."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from quart import url_for

from backend.dashboard.analytics.answers import ask
from backend.dashboard.analytics.marks import Mark, marks_of
from backend.dashboard.analytics.tables import count_of
from backend.domain.analytics.answer import AnalyticsAnswer
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.period import QueryPeriod, TimeField
from backend.domain.analytics.query import Field, Query
from backend.domain.ids import LinkId

# A row of a chart: its label, and its numbers.
CourseRow = tuple[str, list[int]]
DAYS, HOURS = 30, 24
_HOUR, _DAY, _QUARTER = timedelta(hours=1), timedelta(days=1), timedelta(minutes=15)


@dataclass(frozen=True, slots=True)
class LinkCourse:
    """The rows of the chart, oldest first: clicks, and by the day visitors too. Hours have no visitors.

    `partial` has the labels of days or hours that are not over, and `marks` are what was noted about them.
    `notes` name days whose clicks could not be divided at the time zone's midnight.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[CourseRow]
    notes: Sequence[str]
    partial: Container[str]
    marks: Sequence[Mark] = ()
    addresses: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def totals(self) -> list[tuple[str, int]]:
        """Each column with the sum of its numbers."""
        sums = [sum(numbers) for numbers in zip(*(numbers for _, numbers in self.rows), strict=True)]
        return list(zip(self.columns, sums, strict=True))


async def course_by_day(link_id: LinkId, now: datetime, zone: ZoneInfo) -> LinkCourse:
    """The link's clicks and visitors today and on the days before."""
    period = last_days(now, zone)
    answer = await ask(_query(link_id, period, TimeField.DAY, Measure.CLICKS, Measure.VISITORS))
    title = f"Clicks and visitors by day, today and the {DAYS - 1} days before"
    marks = await marks_of(answer.rows, period, TimeField.DAY, {Field.LINK: link_id})
    course = _course(title, answer, marks, "%-d %b", Measure.CLICKS, Measure.VISITORS)
    days = [row.group[0] or "" for row in answer.rows]
    addresses = {
        label: clicks_address(link_id, day, day, zone.key)
        for (label, _), day in zip(course.rows, days, strict=True)
    }
    return replace(course, addresses=addresses)


def clicks_address(link_id: LinkId, first: str, last: str, zone: str) -> str:
    """The address of the link's single clicks from the one day to the other, as days are in the zone."""
    arguments = {"link": link_id, "from": first, "to": last, "zone": zone}
    return f"{url_for('dashboard.clicks')}?{urlencode(arguments)}"


async def course_by_hour(link_id: LinkId, now: datetime, zone: ZoneInfo) -> LinkCourse:
    """The link's clicks in this hour and in those before."""
    period = last_hours(now, zone)
    answer = await ask(_query(link_id, period, TimeField.HOUR, Measure.CLICKS))
    title = f"Clicks by hour, this hour and the {HOURS - 1} before"
    marks = await marks_of(answer.rows, period, TimeField.HOUR, {Field.LINK: link_id})
    return _course(title, answer, marks, "%-d %b, %H:00", Measure.CLICKS)


def _course(
    title: str, answer: AnalyticsAnswer, marks: Sequence[Mark], label_format: str, *measures: Measure
) -> LinkCourse:
    labels = [datetime.fromisoformat(row.group[0] or "").strftime(label_format) for row in answer.rows]
    counts = [[count_of(row.values, measure) for measure in measures] for row in answer.rows]
    return LinkCourse(
        title,
        [measure.label for measure in measures],
        list(zip(labels, counts, strict=True)),
        # The other notes, about sums of visitors, stand on the page already.
        [note for note in answer.notes if "midnight" in note],
        {label for label, row in zip(labels, answer.rows, strict=True) if row.is_partial},
        marks,
    )


def last_days(now: datetime, zone: ZoneInfo) -> QueryPeriod:
    """Today in this time zone and the days before, DAYS together."""
    first = now.astimezone(zone).date() - (DAYS - 1) * _DAY
    return QueryPeriod(datetime(first.year, first.month, first.day, tzinfo=zone), _next_quarter(now), zone)


def last_hours(now: datetime, zone: ZoneInfo) -> QueryPeriod:
    """This hour of the time zone's clocks and those before, HOURS together."""
    begun = now.astimezone(zone).replace(minute=0, second=0, microsecond=0).astimezone(UTC)
    return QueryPeriod(begun - (HOURS - 1) * _HOUR, _next_quarter(now), zone)


def _next_quarter(now: datetime) -> datetime:
    """The end of the quarter of an hour that is now: clicks of this moment count."""
    seconds = _QUARTER.total_seconds()
    return datetime.fromtimestamp((now.timestamp() // seconds + 1) * seconds, UTC)


def _query(link_id: LinkId, period: QueryPeriod, by: TimeField, *measures: Measure) -> Query:
    only = {Field.LINK: frozenset[str | None]([link_id])}
    return Query(period=period, measures=measures, group_by=(Field(by),), filters=only)
