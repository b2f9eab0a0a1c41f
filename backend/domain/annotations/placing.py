"""Where charts show annotations: in which part of their period."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from backend.domain.analytics.period import QUARTER_SECONDS, QueryPeriod, Span, Spans
from backend.domain.annotations.annotation import NotedTime

_DAY = timedelta(days=1)


def span_of(noted: NotedTime, period: QueryPeriod, spans: Spans) -> Span | None:
    """The span of the period that a note belongs to; None if the note is of another time.

    A note of a day belongs to the first span of that day in the period's time zone.
    """
    at = noted.at
    if noted.is_of_day:
        begin, end = (_midnight(noted.at + days, period) for days in (timedelta(), _DAY))
        if not begin < period.end or not end > period.start:
            return None
        at = max(begin, period.start)
    return spans.at(int(at.timestamp()) // QUARTER_SECONDS)


def _midnight(day: datetime, period: QueryPeriod) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=period.zone).astimezone(UTC)
