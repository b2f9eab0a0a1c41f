"""The page Live as a report: how much happened in each of the last minutes, and of which links.

Members see each event as it arrives. Readers without an account see numbers only: whoever saw somebody tap a
link would find a single row by its minute.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import Any, TypeVar

from backend.domain.analytics.input import FIELDS, Words, parse_query
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.period import QUARTER_SECONDS, QueryPeriod
from backend.domain.analytics.query import Query, is_of_events
from backend.domain.errors import InvalidField, collect_errors, raise_all, unknown_fields
from backend.domain.fields.rules import Rule, parse_fields

KeyT = TypeVar("KeyT", int, str, str | None)
LIVE_MINUTES = 30
# Of each figure: no more rows are read, however much happens.
MOST_LIVE_ROWS = 5_000
# The links and countries with the most, which are named.
MOST_NAMED = 10
_MINUTE = timedelta(minutes=1)
_QUARTER = timedelta(seconds=QUARTER_SECONDS)


class LiveFigure(StrEnum):
    """What is counted of the last minutes."""

    CLICKS = "clicks"
    LEADS = "leads"
    CONVERSIONS = "conversions"
    EVENTS = "events"

    @property
    def measure(self) -> Measure:
        """What is counted."""
        return Measure(self.value)


_OWN: Mapping[str, Rule[Any]] = {"measures": Words(LiveFigure, len(LiveFigure), 1)}
_OF_QUERY = ("timezone", "filters")
LIVE_REPORT_FIELDS: Mapping[str, Rule[Any]] = {**{name: FIELDS[name] for name in _OF_QUERY}, **_OWN}
# What Live counts without `measures`.
LIVE_FIGURES = (LiveFigure.CLICKS, LiveFigure.LEADS, LiveFigure.CONVERSIONS)


@dataclass(frozen=True, slots=True)
class LiveFact:
    """Something that happened: `part` of it is of this link, since several may share a sale."""

    at: datetime
    link_name: str | None
    country: str | None
    part: Fraction = Fraction(1)
    currency: str | None = None
    revenue: Decimal | None = None


@dataclass(frozen=True, slots=True)
class LiveCounts:
    """How often one thing happened in each minute, the oldest first, and of which links and countries.

    `links` and `countries` are those with the most; None stands for none or an unknown one.
    """

    figure: LiveFigure
    minutes: Sequence[int]
    links: Sequence[tuple[str | None, int]]
    countries: Sequence[tuple[str | None, int]]
    revenue: Mapping[str, Decimal] = field(default_factory=dict[str, Decimal])
    is_cut: bool = False

    @property
    def total(self) -> int:
        """How often it happened in all of these minutes."""
        return sum(self.minutes)


@dataclass(frozen=True, slots=True)
class LiveAnswer:
    """The counts of the minutes that begin at `since`."""

    since: datetime
    counts: Sequence[LiveCounts]


def read_live(saved: Mapping[str, Any], now: datetime) -> tuple[Query, tuple[LiveFigure, ...]]:
    """The query of the quarters of an hour that have the last minutes, and what is counted of these.

    Raises the errors of all fields together.
    """
    errors = unknown_fields(saved, LIVE_REPORT_FIELDS)
    own = parse_fields(_OWN, saved, errors)
    queries: list[Query] = []
    with collect_errors(errors):
        queries.append(parse_query({name: saved[name] for name in _OF_QUERY if name in saved}, now))
    rule = "can't be filtered by: Live counts more than events"
    errors += [
        InvalidField(f"filters.{name}", rule)
        for query in queries
        for name in query.filters
        if is_of_events(name)
    ]
    raise_all(errors)
    start, end = _quarter(live_since(now)), _quarter(now) + _QUARTER
    period = QueryPeriod(start, end, queries[0].period.zone)
    return replace(queries[0], period=period, limit=MOST_LIVE_ROWS), own.get("measures", LIVE_FIGURES)


def live_since(now: datetime) -> datetime:
    """The beginning of the first of the last minutes, of which the current one is the last."""
    return now.astimezone(UTC).replace(second=0, microsecond=0) - (LIVE_MINUTES - 1) * _MINUTE


def live_counts(figure: LiveFigure, facts: Sequence[LiveFact], since: datetime, most: int) -> LiveCounts:
    """What the facts come to in the minutes from `since` on; at most `most` of them were read."""
    placed = [((fact.at - since) // _MINUTE, fact) for fact in facts]
    shown = [(minute, fact) for minute, fact in placed if 0 <= minute < LIVE_MINUTES]
    minutes = _sums((minute, fact.part) for minute, fact in shown)
    revenue = _sums(
        (fact.currency, fact.part * Fraction(fact.revenue))
        for _, fact in shown
        if fact.currency and fact.revenue is not None
    )
    return LiveCounts(
        figure,
        [round(minutes.get(minute, Fraction())) for minute in range(LIVE_MINUTES)],
        _most(_sums((fact.link_name, fact.part) for _, fact in shown)),
        _most(_sums((fact.country, fact.part) for _, fact in shown)),
        {currency: Decimal(sum_.numerator) / sum_.denominator for currency, sum_ in revenue.items()},
        len(facts) >= most,
    )


def _sums(parts: Iterable[tuple[KeyT, Fraction]]) -> dict[KeyT, Fraction]:
    sums: dict[KeyT, Fraction] = defaultdict(Fraction)
    for key, part in parts:
        sums[key] += part
    return sums


def _most(sums: Mapping[str | None, Fraction]) -> list[tuple[str | None, int]]:
    """The names with the largest sums."""
    ordered = sorted(sums.items(), key=lambda pair: (-pair[1], pair[0] or ""))
    return [(name, round(sum_)) for name, sum_ in ordered[:MOST_NAMED]]


def _quarter(at: datetime) -> datetime:
    """The beginning of the quarter of an hour."""
    return datetime.fromtimestamp(int(at.timestamp()) // QUARTER_SECONDS * QUARTER_SECONDS, UTC)
