"""The time that a query of analytics is about, and its days, weeks, months and hours in a time zone.

Counts are kept by quarters of an hour. Every time zone's days begin at one, also where its offset is no whole
hour, and so do periods: nothing has to be rounded. Quarters are numbered from 1970, days in UTC too.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from enum import StrEnum
from functools import cached_property
from itertools import groupby
from operator import attrgetter

from backend.domain.errors import InvalidField

DAY_SECONDS = 24 * 3600
QUARTER_SECONDS = 15 * 60
# Before, clocks of some zones changed at times that are no quarter of an hour, and Waylink was not there.
EARLIEST = datetime(2012, 1, 1, tzinfo=UTC)
LATEST = datetime(2200, 1, 1, tzinfo=UTC)
MOST_DAYS = 3_660
MOST_DAYS_BY_HOUR = 100
QUARTERS_OF_DAY = DAY_SECONDS // QUARTER_SECONDS
# The longest periods that are shown by days and by weeks; longer ones are shown by months.
_MOST_DAYS_SHOWN, _MOST_WEEKS_SHOWN = 100, 53
_DAY = timedelta(days=1)
# Weekdays of two years are compared with each other.
_WEEKS_OF_YEAR = timedelta(weeks=52)


class TimeField(StrEnum):
    """What a period is divided into."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    HOUR = "hour"


class WeekStart(StrEnum):
    """The day on which weeks begin."""

    MONDAY = "monday"
    SUNDAY = "sunday"


class Comparison(StrEnum):
    """Which other period a period is compared with."""

    PREVIOUS = "previous"
    YEAR = "year"


@dataclass(frozen=True, slots=True)
class Span:
    """The quarters of an hour from `first` up to, but not including, `end`: a day of the zone, or another."""

    first: int
    end: int
    label: str | None


@dataclass(frozen=True, slots=True)
class QueryPeriod:
    """The time from `start` up to, but not including, `end`, with the time zone whose days count."""

    start: datetime
    end: datetime
    zone: tzinfo
    week_starts: WeekStart = WeekStart.MONDAY

    def __post_init__(self) -> None:
        """Raises InvalidField, which names `from` or `to`."""
        for name, at in (("from", self.start), ("to", self.end)):
            if not EARLIEST <= at <= LATEST:
                raise InvalidField(name, f"must be between {EARLIEST:%Y-%m-%d} and {LATEST:%Y-%m-%d}")
            if at.timestamp() % QUARTER_SECONDS:
                raise InvalidField(name, "must be at a quarter of an hour, such as 12:00 or 12:15")
        if self.end <= self.start:
            raise InvalidField("to", "must be after from")
        self.check_days(MOST_DAYS)

    def spans(self, field: TimeField | None) -> Spans:
        """What the period is divided into, in order; without a field, the period as one span."""
        first, end = _quarter(self.start), _quarter(self.end)
        if field is None:
            return Spans([Span(first, end, None)])
        if field is TimeField.HOUR:
            self.check_by_hour()
        begins = [(begin, label) for begin, label in self._begins(field) if first < begin < end]
        labels = [self._label(field, first), *(label for _, label in begins)]
        edges = [first, *(begin for begin, _ in begins), end]
        return Spans(list(map(Span, edges, edges[1:], labels)))

    def check_by_hour(self) -> None:
        """Raise InvalidField if the period has too many hours to be divided into them."""
        if self._days > MOST_DAYS_BY_HOUR:
            raise InvalidField("group_by", f"with hour needs a period of at most {MOST_DAYS_BY_HOUR} days")

    def check_days(self, most: int) -> None:
        """Raise InvalidField, which names `from`, if it has more than `most` days by the zone's clock.

        A day on which the clock is put back is one day, too, however many hours it has.
        """
        if self._days > most:
            raise InvalidField("from", f"must be at most {most:,} days before to")

    @property
    def days(self) -> int:
        """How many days of the zone the period has a part of."""
        ends = (self.start, self.end - timedelta(seconds=1))
        first, last = (end.astimezone(self.zone).date() for end in ends)
        return (last - first).days + 1

    @property
    def time_field(self) -> TimeField:
        """The parts of the period that a chart of it has."""
        if self.days == 1:
            return TimeField.HOUR
        if self.days <= _MOST_DAYS_SHOWN:
            return TimeField.DAY
        return TimeField.WEEK if self.days <= 7 * _MOST_WEEKS_SHOWN else TimeField.MONTH

    @property
    def cuts_days(self) -> bool:
        """Whether it begins or ends inside of a day of the zone."""
        edges = (_quarter(self.start), _quarter(self.end))
        return any(self._midnight(self._local(edge).date()) != edge for edge in edges)

    @property
    def whole_months(self) -> int:
        """How many calendar months of the zone the period is, if it is nothing but whole ones; else 0."""
        first, end = (self._local(_quarter(at)).date() for at in (self.start, self.end))
        edges = [self._midnight(day.replace(day=1)) for day in (first, end)]
        if edges != [_quarter(self.start), _quarter(self.end)]:
            return 0
        return 12 * (end.year - first.year) + end.month - first.month

    def compared(self, comparison: Comparison) -> QueryPeriod:
        """The period that this one is compared with, by the zone's clock (decisions, "words-of-reports").

        Whole months are compared with the months before, or with those a year before; others with as many
        days before as they have, rounded up, or with the same weekdays 52 weeks before.
        """
        start, end = (_moment(self._shifted(_quarter(at), comparison)) for at in (self.start, self.end))
        return _Compared(start, end, self.zone, self.week_starts)

    def compared_spans(self, field: TimeField | None, comparison: Comparison) -> Spans:
        """The spans of the compared period, each with the label of the one that it is compared with.

        Of whole months, what no part of this period is compared with has the label None.
        """
        spans = self.spans(field)
        if self.whole_months and field not in {None, TimeField.MONTH}:
            return Spans(self._spans_by_number(spans, comparison))
        edges = [self._shifted(edge, comparison) for edge in (*(span.first for span in spans), spans.end)]
        for at in range(1, len(edges)):  # clocks that were put back then, and not now
            edges[at] = max(edges[at], edges[at - 1])
        pairs = zip(edges, edges[1:], spans, strict=False)
        return Spans([Span(first, end, span.label) for first, end, span in pairs])

    def comparison_in_words(self, field: TimeField | None, comparison: Comparison) -> str:
        """A sentence that says what is compared with what."""
        months, days = self.whole_months, self._days
        if comparison is Comparison.YEAR:
            what = "the same calendar months a year before" if months else "the same weekdays 52 weeks before"
        elif months:
            what = "the calendar month before" if months == 1 else f"the {months} calendar months before"
        else:
            what = "the day before" if days == 1 else f"the {days} days before"
        if not months or field in {None, TimeField.MONTH}:
            return f"Compared with {what}."
        return (
            f"Compared with {what}: each day with the day of the same number. Days that the other month "
            "lacks are compared with nothing, and what it has more is in the totals only."
        )

    def partial_labels(self, field: TimeField, now: datetime | None) -> list[str]:
        """The parts of the time that are not all there: the period cuts them, or they are not over `now`."""
        spans = self.spans(field)
        begin, end = self._unit(field, spans.first)[0], self._unit(field, spans.end - 1)[1]
        until = end if now is None else int(now.timestamp()) // QUARTER_SECONDS
        partial = []
        for span in spans:
            is_cut = (span.first == spans.first and begin < span.first) or span.end == spans.end < end
            is_over = (end if span.end == spans.end else span.end) <= until
            if span.label is not None and (is_cut or not is_over):
                partial.append(span.label)
        return partial

    def _shifted(self, quarter: int, comparison: Comparison) -> int:
        """What an edge of the period is compared with, or one of its parts."""
        local = self._local(quarter)
        if months := self._months_back(comparison):
            return self._midnight(_same_day(local.date(), -months) or local.date())
        return _quarter(local - (_WEEKS_OF_YEAR if comparison is Comparison.YEAR else self._days * _DAY))

    def _months_back(self, comparison: Comparison) -> int:
        """How many calendar months before whole months are compared with; 0 if the period has others."""
        return 12 if self.whole_months and comparison is Comparison.YEAR else self.whole_months

    def _spans_by_number(self, spans: Spans, comparison: Comparison) -> Iterator[Span]:
        """Each day of the compared months, divided and named as this period's day of the same number."""
        months, other = self._months_back(comparison), self.compared(comparison)
        pieces: list[Span] = []
        for day in other._dates():
            begin, end = other._midnight(day), other._midnight(day + _DAY)
            same_day = _same_day(day, months)
            if same_day is None:
                pieces.append(Span(begin, end, None))
            else:
                pieces += self._parts_of(same_day, spans, day, begin, end)
        for label, group in groupby(pieces, key=attrgetter("label")):
            together = list(group)
            yield Span(together[0].first, together[-1].end, label)

    def _parts_of(self, same_day: date, spans: Spans, day: date, begin: int, end: int) -> Iterator[Span]:
        """The day from `begin` to `end`, divided at the times at which spans divide `same_day`."""
        at, stop = self._midnight(same_day), self._midnight(same_day + _DAY)
        while (span := spans.at(at)) and span.end < stop:
            at = span.end
            clock = self._local(at).time().replace(fold=0)
            edge = min(max(begin, _quarter(datetime.combine(day, clock, self.zone))), end)
            yield Span(begin, edge, span.label)
            begin = edge
        yield Span(begin, end, span.label if span else None)

    @property
    def _days(self) -> int:
        return max(1, days_by_clock(*(at.astimezone(self.zone) for at in (self.start, self.end))))

    def _midnight(self, day: date) -> int:
        """When the day begins: where clocks leave midnight out, that is after it."""
        return _quarter(datetime(day.year, day.month, day.day, tzinfo=self.zone))

    def _dates(self) -> Iterator[date]:
        """The days of the zone that the period has a part of."""
        day = self._local(_quarter(self.start)).date()
        last = self._local(_quarter(self.end) - 1).date()
        while day <= last:
            yield day
            day += _DAY

    def _unit(self, field: TimeField, quarter: int) -> tuple[int, int]:
        """Where the whole hour, day, week or month that has this quarter begins and ends."""
        if field is TimeField.HOUR:
            label, begin, end = self._label(field, quarter), quarter, quarter + 1
            while self._label(field, begin - 1) == label:
                begin -= 1
            while self._label(field, end) == label:
                end += 1
            return begin, end
        day = self._local(quarter).date()
        if field is TimeField.MONTH:
            first = day.replace(day=1)
            return self._midnight(first), self._midnight(_same_day(first, 1) or first)
        length = 7 if field is TimeField.WEEK else 1
        first = self._week_of(day) if field is TimeField.WEEK else day
        return self._midnight(first), self._midnight(first + length * _DAY)

    def _local(self, quarter: int) -> datetime:
        return _moment(quarter).astimezone(self.zone)

    def _begins(self, field: TimeField) -> Iterator[tuple[int, str]]:
        """Where days, or others, begin from the period's beginning on, with their labels."""
        if field is TimeField.HOUR:
            label_before = None
            for quarter in range(_quarter(self.start), _quarter(self.end)):
                label = self._label(field, quarter)
                if label != label_before:
                    yield quarter, label
                label_before = label
            return
        for day in self._dates():
            if self._begins_at(field, day):
                yield self._midnight(day), self._label_of_day(field, day)

    def _label(self, field: TimeField, quarter: int) -> str:
        local = self._local(quarter)
        if field is TimeField.HOUR:
            return local.replace(minute=0).isoformat(timespec="minutes")
        return self._label_of_day(field, local.date())

    def _label_of_day(self, field: TimeField, day: date) -> str:
        if field is TimeField.WEEK:
            return self._week_of(day).isoformat()
        return day.isoformat()[:7] if field is TimeField.MONTH else day.isoformat()

    def _begins_at(self, field: TimeField, day: date) -> bool:
        if field is TimeField.MONTH:
            return day.day == 1
        return field is TimeField.DAY or self._week_of(day) == day

    def _week_of(self, day: date) -> date:
        """The day on which the week of this day began."""
        of_week = day.weekday() if self.week_starts is WeekStart.MONDAY else day.isoweekday() % 7
        return day - of_week * _DAY


class _Compared(QueryPeriod):
    """A period that no caller asked for, so that its limits do not matter."""

    __slots__ = ()

    def __post_init__(self) -> None:
        pass


class Spans(Sequence[Span]):
    """Spans that follow each other without a gap."""

    def __init__(self, spans: Iterable[Span]) -> None:
        all_spans = list(spans)
        self._spans = [span for span in all_spans if span.first < span.end] or all_spans[:1]
        self.labels = [span.label for span in all_spans]

    def __getitem__(self, at: int) -> Span:  # type: ignore[override]  # no slices
        return self._spans[at]

    def __len__(self) -> int:
        return len(self._spans)

    @property
    def first(self) -> int:
        """The first quarter."""
        return self._spans[0].first

    @property
    def end(self) -> int:
        """The quarter behind the last one."""
        return self._spans[-1].end

    @property
    def days(self) -> range:
        """The days in UTC that have a part in the spans."""
        return range(self.first // QUARTERS_OF_DAY, max(self.first, self.end - 1) // QUARTERS_OF_DAY + 1)

    @cached_property
    def _firsts(self) -> list[int]:
        return [span.first for span in self._spans]

    def at(self, quarter: int) -> Span | None:
        """The span that has this quarter; None outside."""
        if not self.first <= quarter < self.end:
            return None
        return self._spans[bisect_right(self._firsts, quarter) - 1]

    def of_day(self, day: int) -> list[tuple[int, int, str | None]]:
        """The parts of a day in UTC, as its quarters from and to (not included), and the span's label."""
        begin, end = day * QUARTERS_OF_DAY, (day + 1) * QUARTERS_OF_DAY
        parts = []
        at = max(0, bisect_right(self._firsts, begin) - 1)
        while at < len(self._spans) and self._spans[at].first < end:
            span = self._spans[at]
            if span.end > begin:
                parts.append((max(span.first, begin) - begin, min(span.end, end) - begin, span.label))
            at += 1
        return parts

    def is_cut(self, day: int) -> bool:
        """Whether only a part of the day in UTC is in a span."""
        parts = self.of_day(day)  # none where clocks that were put forward have left nothing of the spans
        return bool(parts) and parts[0][1] - parts[0][0] < QUARTERS_OF_DAY


def _same_day(day: date, months: int) -> date | None:
    """The day of the same number so many months later; None if that month has none."""
    year, month = divmod(12 * day.year + day.month - 1 + months, 12)
    try:
        return day.replace(year=year, month=month + 1)
    except ValueError:
        return None


def days_by_clock(start: datetime, end: datetime) -> int:
    """How many days, rounded up, lie between two times, each as the clock shows it by its own offset."""
    return -((start.replace(tzinfo=None) - end.replace(tzinfo=None)) // _DAY)


def _quarter(at: datetime) -> int:
    return int(at.timestamp()) // QUARTER_SECONDS


def _moment(quarter: int) -> datetime:
    return datetime.fromtimestamp(quarter * QUARTER_SECONDS, UTC)
