"""Queries of analytics: what is counted, by what, and of which time (decisions, "analytics-query").

A query that exists can be answered: making one that has no meaning raises InvalidField.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, StrEnum, auto

from backend.domain.accounts.reach.link_reach import LinkReach
from backend.domain.analytics.event_properties import EventProperty, event_fields
from backend.domain.analytics.measures import ByCurrency, Measure, MeasureKind, Shown
from backend.domain.analytics.period import Comparison, QueryPeriod, TimeField
from backend.domain.errors import InvalidField
from backend.domain.sales.credit_rules import CreditRules

MOST_GROUPINGS = 4
MOST_LIMIT = 10_000
DEFAULT_LIMIT = 100
# Before a measure: how much it changed, as a share of what it was, and in itself.
CHANGE, DIFFERENCE = "change.", "difference."


class FieldSubject(Enum):
    """What a field is of."""

    TIME = auto()
    LINK = auto()
    CLICK = auto()  # of single clicks, and of sales by the click that earned them
    EVENT = auto()


@dataclass(frozen=True, slots=True)
class FieldDefinition:
    """What people call a field, what it is of, and whether visits without a link have it of their address."""

    label: str
    subject: FieldSubject
    is_in_addresses: bool = False


class Field(StrEnum):
    """What is counted by: a part of the time, something of the link, of the click, or an event's name.

    What follows from a field reads its definition; languages of mails have its names too.
    """

    label: str
    subject: FieldSubject
    is_in_addresses: bool

    # The definition is None where a field is looked up by its name.
    def __new__(cls, name: str, definition: FieldDefinition | None = None) -> Field:
        """Make the member of a definition."""
        assert definition
        member = str.__new__(cls, name)
        member._value_ = name
        member.label, member.subject = definition.label, definition.subject
        member.is_in_addresses = definition.is_in_addresses
        return member

    DAY = TimeField.DAY.value, FieldDefinition("Day", FieldSubject.TIME)
    WEEK = TimeField.WEEK.value, FieldDefinition("Week", FieldSubject.TIME)
    MONTH = TimeField.MONTH.value, FieldDefinition("Month", FieldSubject.TIME)
    HOUR = TimeField.HOUR.value, FieldDefinition("Hour", FieldSubject.TIME)
    LINK = "link", FieldDefinition("Link", FieldSubject.LINK)
    DOMAIN = "domain", FieldDefinition("Domain", FieldSubject.LINK)
    CAMPAIGN = "campaign", FieldDefinition("Campaign", FieldSubject.LINK, is_in_addresses=True)
    SOURCE = "source", FieldDefinition("Source", FieldSubject.LINK, is_in_addresses=True)
    MEDIUM = "medium", FieldDefinition("Medium", FieldSubject.LINK, is_in_addresses=True)
    TERM = "term", FieldDefinition("Term", FieldSubject.LINK, is_in_addresses=True)
    CONTENT = "content", FieldDefinition("Content", FieldSubject.LINK, is_in_addresses=True)
    TAG = "tag", FieldDefinition("Tag", FieldSubject.LINK)
    COUNTRY = "country", FieldDefinition("Country", FieldSubject.CLICK)
    PLATFORM = "platform", FieldDefinition("Platform", FieldSubject.CLICK)
    SYSTEM = "system", FieldDefinition("System", FieldSubject.CLICK)
    BROWSER = "browser", FieldDefinition("Browser", FieldSubject.CLICK)
    REFERRING_SITE = "referring_site", FieldDefinition("Referring site", FieldSubject.CLICK)
    REFERRER = "referrer", FieldDefinition("Referrer", FieldSubject.CLICK)
    VARIANT = "variant", FieldDefinition("Variant", FieldSubject.CLICK)
    OUTCOME = "outcome", FieldDefinition("Led to", FieldSubject.CLICK)
    EVENT = "event", FieldDefinition("Event", FieldSubject.EVENT)


# A field that has a name of its own, or a property of events.
QueryField = Field | EventProperty


def _of(subject: FieldSubject) -> frozenset[Field]:
    return frozenset(field for field in Field if field.subject is subject)


TIMES, LINK_FIELDS, CLICK_FIELDS = _of(FieldSubject.TIME), _of(FieldSubject.LINK), _of(FieldSubject.CLICK)
# What a cost is told for.
COST_FIELDS = frozenset({Field.CAMPAIGN, Field.DAY, Field.WEEK, Field.MONTH})
# What a link, a campaign or an ad led to, or nothing did.
_OF_TOUCHES = (MeasureKind.SALES, MeasureKind.PEOPLE, MeasureKind.INSTALLS)


@dataclass(frozen=True, slots=True)
class Not:
    """A filter that leaves everything but what has one of these values; None stands for what has none."""

    values: frozenset[str | None]


@dataclass(frozen=True, slots=True)
class Prefix:
    """A filter that leaves what has a value that begins with this text."""

    text: str


# The values that pass, or another way to name them.
Filter = frozenset[str | None] | Not | Prefix
FieldFilters = Mapping[QueryField, Filter] | Mapping[Field, Filter]


@dataclass(frozen=True, slots=True)
class Order:
    """A column, or its change against the time that is compared with, upwards or downwards.

    The change is a share of what was before (`of_change`), or the number less the one before
    (`of_difference`). `currencies` say in which ones amounts decide: those in the first one, where they are
    the same, those in the second one, and so on.
    """

    column: Measure | QueryField
    is_descending: bool = False
    of_change: bool = False
    of_difference: bool = False
    currencies: tuple[str, ...] = ()

    def __str__(self) -> str:
        before = f"{'-' * self.is_descending}{CHANGE * self.of_change}{DIFFERENCE * self.of_difference}"
        return before + ".".join([self.column, *self.currencies])


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What is asked of an organization's analytics.

    Of each field in `filters`, only facts with one of the values count, or as `Not` or `Prefix` say; None
    stands for no value. With `change`, rows have their change against the period that is compared with.
    Without `order`, rows by a part of the time are sorted by it, oldest first, and others by the first
    measure, highest first. With `currency`, only conversions in it count. `cursor` is the one of the page
    before. Parts of the time that are not over `now` are partial; None: all are over. Only what came of links
    within `reach` counts, whatever the filters say; None: of everything.
    """

    period: QueryPeriod
    measures: tuple[Measure, ...] = (Measure.CLICKS,)
    group_by: tuple[QueryField, ...] = ()
    filters: FieldFilters = field(default_factory=dict[QueryField, Filter])
    compare: Comparison | None = None
    change: bool = False
    currency: str | None = None
    rules: CreditRules = CreditRules()
    order: Order | None = None
    limit: int = DEFAULT_LIMIT
    cursor: str | None = None
    now: datetime | None = None
    reach: LinkReach | None = None

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
        return next((TimeField(field) for field in self.group_by if field in TIMES), None)

    @property
    def fields(self) -> frozenset[QueryField]:
        """What is grouped or filtered by."""
        return frozenset((*self.group_by, *self.filters))

    @property
    def click_fields(self) -> tuple[Field, ...]:
        """What is grouped or filtered by of single clicks, each once, without what their links split."""
        named = dict.fromkeys((*self.group_by, *self.filters))
        of_clicks = CLICK_FIELDS - {Field.VARIANT}
        return tuple(name for name in named if isinstance(name, Field) and name in of_clicks)

    @property
    def link_fields(self) -> tuple[Field, ...]:
        """What is grouped or filtered by of links, each once."""
        named = dict.fromkeys((*self.group_by, *self.filters))
        return tuple(name for name in named if isinstance(name, Field) and name in LINK_FIELDS)

    @property
    def grouped_properties(self) -> list[EventProperty]:
        """The properties of events that rows are grouped by."""
        return event_fields(self.group_by)

    @property
    def shown(self) -> tuple[Shown, ...]:
        """What rows show, in order: the measures and, without a currency, how much of them is in each."""
        behind = {} if self.currency else {column.measure: (column,) for column in ByCurrency}
        return tuple(shown for measure in self.measures for shown in (measure, *behind.get(measure, ())))

    @property
    def needed(self) -> frozenset[Measure]:
        """What has to be counted, also for rates."""
        return frozenset(part for measure in self.measures for part in measure.needed)

    def needs(self, *kinds: MeasureKind) -> bool:
        """Whether anything of such kinds has to be counted."""
        return any(measure.kind in kinds for measure in self.needed)

    @property
    def asks_what_came_of_costs(self) -> bool:
        """Whether it has a measure that is made of what campaigns cost, and of what came of them."""
        of_costs = (measure for measure in self.measures if measure.kind is MeasureKind.COSTS)
        return any(measure is not Measure.COST for measure in of_costs)

    def asks_for(self, *kinds: MeasureKind) -> bool:
        """Whether it has a measure of such a kind."""
        return any(measure.kind in kinds for measure in self.measures)

    @property
    def needs_subscription(self) -> bool:
        """Whether it asks for install analytics (contract, "Install analytics")."""
        return Measure.INSTALLS in self.needed

    @property
    def knows_cost(self) -> bool:
        """Whether it is known what each row cost."""
        return self.reach is None and self.fields <= COST_FIELDS

    @property
    def knows_cost_in_all(self) -> bool:
        """Whether it is known what all rows together cost."""
        return self.reach is None and self.filters.keys() <= COST_FIELDS

    @property
    def has_kinds(self) -> bool:
        """Whether there are rows apart.

        They are for what has no touch, for links that were deleted for good, and for other values of
        properties of events than the most frequent ones.
        """
        has_others = bool(self.grouped_properties) and Measure.EVENTS in self.needed
        return has_others or self.has_kinds_of_touches

    @property
    def has_kinds_of_touches(self) -> bool:
        """Whether there are rows apart for what has no touch, and for links that were deleted for good."""
        return not LINK_FIELDS.isdisjoint(self.group_by) and self.needs(*_OF_TOUCHES)

    @property
    def partial_labels(self) -> frozenset[str]:
        """The parts of the time that are not all there."""
        field = self.time_field
        return frozenset(self.period.partial_labels(field, self.now) if field else ())

    @property
    def sorting(self) -> Order:
        """The order of rows."""
        if self.order:
            return self.order
        if time := self.time_field:
            return Order(Field(time))
        columns = [measure for measure in self.measures if not measure.is_money or self.currency]
        if columns:
            return Order(columns[0], is_descending=True)
        return Order(self.group_by[0]) if self.group_by else Order(self.measures[0])


def _check_lists(query: Query) -> None:
    if not query.measures:
        raise InvalidField("measures", "must have at least one")
    if len(query.group_by) > MOST_GROUPINGS:
        raise InvalidField("group_by", f"must have at most {MOST_GROUPINGS}")
    for name, members in (("measures", query.measures), ("group_by", query.group_by)):
        if len(set(members)) < len(members):
            raise InvalidField(name, "must not have one twice")
    if times := TIMES & query.filters.keys():
        raise InvalidField(f"filters.{min(times)}", "can't be filtered by; from and to say which time counts")


def _check_together(query: Query) -> None:
    if len(TIMES.intersection(query.group_by)) > 1:
        raise InvalidField("group_by", f"must have at most one of {_words(TIMES)}")
    if Field.HOUR in query.group_by:
        query.period.check_by_hour()
    if Measure.CHANCE_OF_BEST in query.measures and Field.VARIANT not in query.group_by:
        raise InvalidField("measures", "can't have chance_of_best without variant in group_by")
    if query.change and not query.compare:
        raise InvalidField("change", "needs compare, which says against what")


def _check_order(query: Query) -> None:
    order = query.order
    if order is None:
        return
    if order.of_change and not query.change:
        raise InvalidField("order_by", f"can't be {CHANGE}{order.column} without change")
    if order.of_difference and not query.compare:
        raise InvalidField("order_by", f"can't be {DIFFERENCE}{order.column} without compare")
    is_compared = order.of_change or order.of_difference
    columns = query.measures if is_compared else (*query.measures, *query.group_by)
    if order.column not in columns:
        raise InvalidField("order_by", f"must be one of {_words(columns)}")
    if _is_money(order) and not (query.currency or order.currencies):
        raise InvalidField(
            "order_by",
            f"can't be {order.column} without currency: amounts of two don't compare. Sort by those in one "
            f"currency, such as {order.column}.EUR",
        )
    if order.currencies and not _is_money(order):
        raise InvalidField("order_by", f"can't have a currency behind {order.column}, which is no amount")


def _is_money(order: Order) -> bool:
    return isinstance(order.column, Measure) and order.column.is_money


def field_label(field: QueryField) -> str:
    """What people call a field."""
    return field.property_name if isinstance(field, EventProperty) else field.label


def is_of_events(name: QueryField) -> bool:
    """Whether it is a field that only events have."""
    return name is Field.EVENT or isinstance(name, EventProperty)


def _words(names: Collection[str]) -> str:
    return ", ".join([word for word in (*Measure, *Field) if word in names] + list(event_fields(names)))
