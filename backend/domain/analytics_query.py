"""Queries of analytics: what is counted, by what, and of which time (decisions, "analytics-query").

A query that exists can be answered: making one that asks for what is not kept together raises InvalidField.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from backend.domain.credit_rules import CreditRules
from backend.domain.errors import InvalidField
from backend.domain.query_period import Comparison, QueryPeriod, TimeField

MOST_GROUPINGS = 2
MOST_LIMIT = 10_000
DEFAULT_LIMIT = 100


class Measure(StrEnum):
    """What is counted."""

    CLICKS = "clicks"
    VISITORS = "visitors"
    NOT_COUNTED = "not_counted"
    INSTALLS = "installs"
    LEADS = "leads"
    CONVERSIONS = "conversions"
    CUSTOMERS = "customers"  # who bought
    CONTACTS = "contacts"  # who is known by a customer id, leads included
    REVENUE = "revenue"
    REFUNDS = "refunds"
    NET_REVENUE = "net_revenue"
    CONVERSION_RATE = "conversion_rate"
    REVENUE_PER_CLICK = "revenue_per_click"
    CHANCE_OF_BEST = "chance_of_best"  # that a variant converts better than the others


class Field(StrEnum):
    """What is counted by: a part of the time, something of the link, or something of the click."""

    DAY = TimeField.DAY.value
    WEEK = TimeField.WEEK.value
    MONTH = TimeField.MONTH.value
    HOUR = TimeField.HOUR.value
    LINK = "link"
    DOMAIN = "domain"
    CAMPAIGN = "campaign"
    SOURCE = "source"
    MEDIUM = "medium"
    TERM = "term"
    CONTENT = "content"
    TAG = "tag"
    COUNTRY = "country"
    PLATFORM = "platform"
    SYSTEM = "system"
    BROWSER = "browser"
    REFERRER = "referrer"
    VARIANT = "variant"


TIMES = frozenset(Field(each) for each in TimeField)
BREAKDOWNS = frozenset(
    {Field.COUNTRY, Field.PLATFORM, Field.SYSTEM, Field.BROWSER, Field.REFERRER, Field.VARIANT}
)
LINK_FIELDS = frozenset(Field) - TIMES - BREAKDOWNS
MONEY = frozenset({Measure.REVENUE, Measure.REFUNDS, Measure.NET_REVENUE, Measure.REVENUE_PER_CLICK})
# What is counted from visitors' leads and conversions.
SALES = frozenset(
    {
        Measure.LEADS,
        Measure.CONVERSIONS,
        Measure.CUSTOMERS,
        Measure.CONTACTS,
        Measure.REVENUE,
        Measure.REFUNDS,
    }
)
# What is counted of different people, each once.
PEOPLE = frozenset({Measure.CUSTOMERS, Measure.CONTACTS})
# What came of links, by clicks.
RATES = frozenset({Measure.CONVERSION_RATE, Measure.REVENUE_PER_CLICK})
# What a link, a campaign or an ad led to, or nothing did.
_OF_TOUCHES = SALES | {Measure.INSTALLS}
# What each measure that is not counted itself is made of.
_PARTS = {
    Measure.NET_REVENUE: (Measure.REVENUE, Measure.REFUNDS),
    Measure.CONVERSION_RATE: (Measure.CONVERSIONS, Measure.CLICKS),
    Measure.REVENUE_PER_CLICK: (Measure.REVENUE, Measure.CLICKS),
    Measure.CHANCE_OF_BEST: (Measure.CONVERSIONS, Measure.CLICKS),
}
# A variant is kept with leads and conversions too.
_OF_VARIANTS = frozenset({Measure.CLICKS, *SALES, *_PARTS})
# What is known of whole days in UTC, so not by the hour.
_BESIDE = TIMES - {Field.HOUR} | LINK_FIELDS
_OF_DAYS = (Measure.VISITORS, Measure.NOT_COUNTED)


@dataclass(frozen=True, slots=True)
class Order:
    """A column, upwards or downwards."""

    column: Measure | Field
    is_descending: bool = False

    def __str__(self) -> str:
        return f"{'-' * self.is_descending}{self.column}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What is asked of an organization's analytics.

    `filters` leaves what has one of the values in each of its fields; None stands for what has none. Without
    `order`, a part of the time comes first, oldest first, or else what has most of the first measure. With
    `currency`, conversions are those of that currency. `cursor` is of the page before. What is not over `now`
    is partial; None: all is over.
    """

    period: QueryPeriod
    measures: tuple[Measure, ...] = (Measure.CLICKS,)
    group_by: tuple[Field, ...] = ()
    filters: Mapping[Field, frozenset[str | None]] = field(default_factory=dict)
    compare: Comparison | None = None
    currency: str | None = None
    rules: CreditRules = CreditRules()
    order: Order | None = None
    limit: int = DEFAULT_LIMIT
    cursor: str | None = None
    now: datetime | None = None

    def __post_init__(self) -> None:
        """Raises InvalidField, which names the field and what is possible."""
        _check_lists(self)
        _check_together(self)
        _check_order(self)
        if not 1 <= self.limit <= MOST_LIMIT:
            raise InvalidField("limit", f"must be a whole number from 1 to {MOST_LIMIT}")

    @property
    def time_field(self) -> TimeField | None:
        """The part of the time that is grouped by."""
        return next((TimeField(each) for each in self.group_by if each in TIMES), None)

    @property
    def breakdown(self) -> Field | None:
        """What clicks are counted by, or filtered by, besides their time and link."""
        return next((each for each in (*self.group_by, *self.filters) if each in BREAKDOWNS), None)

    @property
    def link_fields(self) -> tuple[Field, ...]:
        """What is grouped or filtered by of links, each once."""
        named = dict.fromkeys((*self.group_by, *self.filters))
        return tuple(each for each in named if each in LINK_FIELDS)

    @property
    def needed(self) -> frozenset[Measure]:
        """What has to be counted, also for rates."""
        return frozenset(part for each in self.measures for part in _PARTS.get(each, (each,)))

    @property
    def needs_subscription(self) -> bool:
        """Whether it asks for install analytics (contract, "Install analytics")."""
        return Measure.INSTALLS in self.needed

    @property
    def has_kinds(self) -> bool:
        """Whether there are rows apart for what has no touch, and for links that were deleted for good."""
        return not LINK_FIELDS.isdisjoint(self.group_by) and not self.needed.isdisjoint(_OF_TOUCHES)

    @property
    def partial_labels(self) -> frozenset[str]:
        """The parts of the time that are not all there."""
        field = self.time_field
        return frozenset(self.period.partial_labels(field, self.now) if field else ())

    @property
    def is_read_by_page(self) -> bool:
        """Whether a page needs no more than its own part of the time: clicks of links, in the order of time.

        Not by hour, whose names are in another order where clocks are put back, and not where days that a
        time zone cuts are divided only as long as they have few clicks.
        """
        return (
            self.sorting.column in {Field.DAY, Field.WEEK, Field.MONTH}
            and not LINK_FIELDS.isdisjoint(self.group_by)
            and self.breakdown is None
            and self.compare is None
            and Measure.CLICKS in self.needed
            and self.needed.isdisjoint({Measure.VISITORS, Measure.NOT_COUNTED})
        )

    @property
    def sorting(self) -> Order:
        """The order of rows."""
        if self.order:
            return self.order
        if time := self.time_field:
            return Order(Field(time))
        columns = [each for each in self.measures if each not in MONEY or self.currency]
        if columns:
            return Order(columns[0], is_descending=True)
        return Order(self.group_by[0]) if self.group_by else Order(self.measures[0])


def _check_lists(query: Query) -> None:
    if not query.measures:
        raise InvalidField("measures", "must have at least one")
    if len(query.group_by) > MOST_GROUPINGS:
        raise InvalidField("group_by", f"must have at most {MOST_GROUPINGS}")
    for name, given in (("measures", query.measures), ("group_by", query.group_by)):
        if len(set(given)) < len(given):
            raise InvalidField(name, "must not have one twice")
    if times := TIMES & query.filters.keys():
        raise InvalidField(f"filters.{min(times)}", "can't be filtered by; from and to say which time counts")


def _check_together(query: Query) -> None:
    if len(TIMES.intersection(query.group_by)) > 1:
        raise InvalidField("group_by", f"must have at most one of {_words(TIMES)}")
    broken_down = BREAKDOWNS.intersection((*query.group_by, *query.filters))
    if len(broken_down) > 1:
        raise InvalidField(
            "group_by" if BREAKDOWNS.intersection(query.group_by) else "filters",
            f"can't have {' and '.join(sorted(broken_down))}: of {_words(BREAKDOWNS)} one is possible in "
            f"group_by and filters together, beside {_words(_BESIDE)}",
        )
    breakdown = query.breakdown
    if query.time_field is TimeField.HOUR:
        _check_by_hour(query, breakdown)
    if Measure.CHANCE_OF_BEST in query.measures and Field.VARIANT not in query.group_by:
        raise InvalidField("measures", "can't have chance_of_best without variant in group_by")
    if breakdown is Field.VARIANT:
        _check_measures(query, _OF_VARIANTS, f"{breakdown}: possible are {_words(_OF_VARIANTS)}")
    elif breakdown:
        _check_measures(query, {Measure.CLICKS}, f"{breakdown}, by which only clicks are counted")


def _check_measures(query: Query, possible: Collection[Measure], why: str) -> None:
    if others := [each for each in query.measures if each not in possible]:
        raise InvalidField("measures", f"can't have {others[0]} with {why}")


def _check_by_hour(query: Query, breakdown: Field | None) -> None:
    possible = f"counted by days: possible are {_words(TIMES - {Field.HOUR})}"
    if breakdown:
        raise InvalidField("group_by", f"can't have hour with {breakdown}, which is {possible}")
    for each in query.measures:
        if each in _OF_DAYS:
            raise InvalidField("measures", f"can't have {each} by hour, which is {possible}")


def _check_order(query: Query) -> None:
    order = query.order
    if order is None:
        return
    columns = (*query.measures, *query.group_by)
    if order.column not in columns:
        raise InvalidField("order_by", f"must be one of {_words(columns)}")
    if order.column in MONEY and not query.currency:
        raise InvalidField(
            "order_by", f"can't be {order.column} without currency: amounts of two don't compare"
        )


def _words(names: Collection[str]) -> str:
    return ", ".join(each for each in (*Measure, *Field) if each in names)
