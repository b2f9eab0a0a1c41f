"""The time that a query of analytics is about, and its days, weeks, months and hours in a time zone.

Counts are kept by quarters of an hour. Every time zone's days begin at one, also where its offset is no whole
hour, and so do periods: nothing has to be rounded. Quarters are numbered from 1970, days in UTC too.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from enum import StrEnum
from functools import cached_property

from backend.domain.errors import InvalidField
from backend.domain.rollup import DAY_SECONDS, QUARTER_SECONDS

# Before, clocks of some zones changed at times that are no quarter of an hour, and Waylink was not there.
EARLIEST = datetime(2012, 1, 1, tzinfo=UTC)
LATEST = datetime(2200, 1, 1, tzinfo=UTC)
MOST_DAYS = 3_660
MOST_DAYS_BY_HOUR = 100
QUARTERS_OF_DAY = DAY_SECONDS // QUARTER_SECONDS
_DAY = timedelta(days=1)
_NOON = QUARTERS_OF_DAY // 2


class TimeField(StrEnum):
    """What a period is divided into."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    HOUR = "hour"


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

    @property
    def whole_days(self) -> range:
        """The days in UTC that lie in the span as a whole."""
        return range(-(-self.first // QUARTERS_OF_DAY), self.end // QUARTERS_OF_DAY)


@dataclass(frozen=True, slots=True)
class QueryPeriod:
    """The time from `start` up to, but not including, `end`, with the time zone whose days count."""

    start: datetime
    end: datetime
    zone: tzinfo

    def __post_init__(self) -> None:
        """Raises InvalidField, which names `from` or `to`."""
        for name, at in (("from", self.start), ("to", self.end)):
            if not EARLIEST <= at <= LATEST:
                raise InvalidField(name, f"must be between {EARLIEST:%Y-%m-%d} and {LATEST:%Y-%m-%d}")
            if at.timestamp() % QUARTER_SECONDS:
                raise InvalidField(name, "must be at a quarter of an hour, such as 12:00 or 12:15")
        if self.end <= self.start:
            raise InvalidField("to", "must be after from")
        if self.end - self.start > MOST_DAYS * _DAY:
            raise InvalidField("from", f"must be at most {MOST_DAYS:,} days before to")

    def spans(self, field: TimeField | None) -> Spans:
        """What the period is divided into, in order; without a field, the period as one span."""
        first, end = _quarter(self.start), _quarter(self.end)
        if field is None:
            return Spans([Span(first, end, None)])
        if field is TimeField.HOUR and self.end - self.start > MOST_DAYS_BY_HOUR * _DAY:
            raise InvalidField("group_by", f"with hour needs a period of at most {MOST_DAYS_BY_HOUR} days")
        begins = [each for each in self._begins(field) if first < each[0] < end]
        labels = [self._label(field, first), *(label for _, label in begins)]
        edges = [first, *(each for each, _ in begins), end]
        return Spans([Span(*each) for each in zip(edges, edges[1:], labels, strict=False)])

    def compared(self, comparison: Comparison) -> QueryPeriod:
        """The period that this one is compared with, by the clock of the zone.

        The previous one lies as many days before as this one has, rounded up: a week that is not over is
        compared with the same part of the week before.
        """
        return _Compared(
            _moment(self._shifted(_quarter(self.start), comparison)),
            _moment(self._shifted(_quarter(self.end), comparison)),
            self.zone,
        )

    def compared_spans(self, field: TimeField | None, comparison: Comparison) -> Spans:
        """The spans of the compared period, each with the label of the one that it is compared with."""
        spans = list(self.spans(field))
        edges = [self._shifted(each, comparison) for each in (*(span.first for span in spans), spans[-1].end)]
        for at in range(1, len(edges)):  # clocks that were put back then, and not now
            edges[at] = max(edges[at], edges[at - 1])
        pairs = zip(edges, edges[1:], spans, strict=False)
        return Spans([Span(first, end, span.label) for first, end, span in pairs])

    def _shifted(self, quarter: int, comparison: Comparison) -> int:
        local = self._local(quarter)
        if comparison is Comparison.YEAR:
            is_leap_day = (local.month, local.day) == (2, 29)
            earlier = (local + _DAY if is_leap_day else local).replace(year=local.year - 1)
        else:
            earlier = local - self._days() * _DAY
        return _quarter(earlier)

    def _days(self) -> int:
        start, end = (each.astimezone(self.zone).replace(tzinfo=None) for each in (self.start, self.end))
        return max(1, -((start - end) // _DAY))

    def _local(self, quarter: int) -> datetime:
        return _moment(quarter).astimezone(self.zone)

    def _begins(self, field: TimeField) -> Iterator[tuple[int, str]]:
        """Where days, or others, begin from the period's beginning on, with their labels."""
        if field is TimeField.HOUR:
            known = None
            for quarter in range(_quarter(self.start), _quarter(self.end)):
                label = self._label(field, quarter)
                if label != known:
                    yield quarter, label
                known = label
            return
        day = self._local(_quarter(self.start)).date()
        last = self._local(_quarter(self.end) - 1).date()
        while day <= last:
            begins = datetime(day.year, day.month, day.day, tzinfo=self.zone)
            if _begins_at(field, day):
                yield _quarter(begins), _label_of_day(field, day)
            day += _DAY

    def _label(self, field: TimeField, quarter: int) -> str:
        local = self._local(quarter)
        if field is TimeField.HOUR:
            return local.replace(minute=0).isoformat(timespec="minutes")
        return _label_of_day(field, local.date())


class _Compared(QueryPeriod):
    """A period that no caller asked for, so that its limits do not matter."""

    __slots__ = ()

    def __post_init__(self) -> None:
        pass


class Spans(Sequence[Span]):
    """Spans that follow each other without a gap."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._spans = [each for each in spans if each.first < each.end] or list(spans[:1])
        self.labels = [each.label for each in spans]

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
        return [each.first for each in self._spans]

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

    def of_noon(self, day: int) -> Span | None:
        """The span that has the noon in UTC of this day; None if the spans don't."""
        return self.at(day * QUARTERS_OF_DAY + _NOON)


def _begins_at(field: TimeField, day: date) -> bool:
    if field is TimeField.MONTH:
        return day.day == 1
    return field is TimeField.DAY or day.weekday() == 0


def _label_of_day(field: TimeField, day: date) -> str:
    if field is TimeField.WEEK:
        return (day - day.weekday() * _DAY).isoformat()
    return day.isoformat()[:7] if field is TimeField.MONTH else day.isoformat()


def _quarter(at: datetime) -> int:
    return int(at.timestamp()) // QUARTER_SECONDS


def _moment(quarter: int) -> datetime:
    return datetime.fromtimestamp(quarter * QUARTER_SECONDS, UTC)
