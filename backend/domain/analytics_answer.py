"""Answers to queries of analytics: rows put together from what was counted, in order, page by page."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from heapq import nsmallest
from typing import Any

from backend.domain.analytics_query import MONEY, Field, Measure, Order, Query
from backend.domain.errors import InvalidField
from backend.domain.ids import CustomerId, LinkId
from backend.domain.links import Link
from backend.domain.money import shown
from backend.domain.query_period import QueryPeriod

# Rows that are held for one answer, of all its pages.
MOST_ROWS = 100_000
# Decimals of a rate and of a shared count, and of an amount per click beyond those of its currency.
_RATE_DIGITS = 6
_MORE_DIGITS = 4

# What a row is of, in the order of the query's `group_by`; None where there is none. Behind that stands the
# row's kind, if it has one.
Group = tuple[str | None, ...]
Amounts = Mapping[str, Decimal]
# A number, an amount, or amounts by currency; None for a rate without clicks.
Value = int | float | Decimal | Amounts | None
Values = Mapping[Measure, Value]


class RowKind(StrEnum):
    """Rows apart from those of the values of a field (decisions, "words-of-reports")."""

    NOT_CREDITED = "not_credited"  # no touch gets the credit
    PURGED_LINKS = "purged_links"  # a link does that was deleted for good

    @property
    def words(self) -> str:
        """What people call such a row."""
        return "Not credited" if self is RowKind.NOT_CREDITED else "Links deleted for good"


class Figures:
    """What was counted for one group. Amounts are by currency, in main units.

    Everything is added up exactly; amounts are rounded when they are asked for. `came_of_links` are those of
    the conversions whose touch is of a link, which rates are of.
    """

    # Many groups have neither amounts nor customers: those who do get what holds them.
    __slots__ = (
        "_contacts", "_customers", "_refunds", "_revenue", "_revenue_of_links",
        "came_of_links", "chance_of_best", "clicks", "conversions", "installs", "leads", "not_counted",
        "visitors",
    )  # fmt: skip

    def __init__(self) -> None:
        self.clicks = self.visitors = self.not_counted = self.installs = 0
        # Fractions where several touches share the credit.
        self.leads: int | Fraction = 0
        self.conversions: int | Fraction = 0
        self.came_of_links: int | Fraction = 0
        self.chance_of_best: float | None = None
        self._revenue: dict[str, Fraction] | None = None
        self._revenue_of_links: dict[str, Fraction] | None = None
        self._refunds: dict[str, Fraction] | None = None
        self._customers: set[CustomerId] | None = None
        self._contacts: set[CustomerId] | None = None

    @property
    def revenue(self) -> Amounts:
        """The amounts by currency."""
        return _shown(self.exact_revenue)

    @property
    def refunds(self) -> Amounts:
        """What was paid back of the revenue."""
        return _shown(self._refunds or {})

    @property
    def net_revenue(self) -> Amounts:
        """The revenue without what was paid back of it."""
        refunds = self._refunds or {}
        return _shown({each: paid - refunds.get(each, 0) for each, paid in self.exact_revenue.items()})

    @property
    def exact_revenue(self) -> Mapping[str, Fraction]:
        """The amounts by currency, not rounded."""
        return self._revenue or {}

    @property
    def exact_revenue_of_links(self) -> Mapping[str, Fraction]:
        """The revenue of `came_of_links`, not rounded."""
        return self._revenue_of_links or {}

    @property
    def customers(self) -> int:
        """How many different customers bought."""
        return len(self._customers or ())

    @property
    def contacts(self) -> int:
        """How many different customers there were, also those with leads only."""
        return len(self._contacts or ())

    def add_revenue(
        self,
        currency: str,
        amount: Decimal | Fraction,
        refunded: Decimal | Fraction,
        *,
        is_of_link: bool,
    ) -> None:
        """Add an amount, and what was paid back of it, both exact."""
        self._revenue = _with(self._revenue, currency, amount)
        if is_of_link:
            self._revenue_of_links = _with(self._revenue_of_links, currency, amount)
        if refunded:
            self._refunds = _with(self._refunds, currency, refunded)

    def add_contact(self, customer_id: CustomerId, *, has_bought: bool) -> None:
        """Add a customer, who counts once."""
        if self._contacts is None:
            self._contacts = set()
        self._contacts.add(customer_id)
        if has_bought:
            if self._customers is None:
                self._customers = set()
            self._customers.add(customer_id)


def _with(
    amounts: dict[str, Fraction] | None, currency: str, amount: Decimal | Fraction
) -> dict[str, Fraction]:
    """The amounts with one more, changed in place where there are some."""
    found = {} if amounts is None else amounts
    found[currency] = found.get(currency, 0) + Fraction(amount)
    return found


def _shown(amounts: Mapping[str, Fraction]) -> Amounts:
    return {each: shown(amount, each) for each, amount in amounts.items()}


@dataclass(slots=True)
class Counted:
    """What was counted of one period: for each group, and of all together. Notes tell what is special.

    `left_out` counts conversions that are in no figure, by their currency: the query asks for another one.
    `kinds` are those of all rows of the period.
    """

    rows: dict[Group, Figures] = field(default_factory=dict)
    total: Figures = field(default_factory=Figures)
    notes: list[str] = field(default_factory=list)
    left_out: dict[str, int | Fraction] = field(default_factory=dict)
    kinds: set[RowKind] = field(default_factory=set)

    def row(self, group: Group) -> Figures:
        """The figures of a group. Raises InvalidField if there are too many groups."""
        found = self.rows.get(group)
        if found is None:
            if len(self.rows) >= MOST_ROWS:
                rule = (
                    f"gives more than {MOST_ROWS:,} rows; a shorter period, filters or less in it give fewer"
                )
                raise InvalidField("group_by", rule)
            found = self.rows[group] = Figures()
        return found

    def of(self, groups: Collection[Group]) -> list[Figures]:
        """The figures of what counts in these groups, and those of all together; none without a group."""
        return [self.total, *map(self.row, groups)] if groups else []


@dataclass(frozen=True, slots=True)
class Row:
    """The figures of one group, and those of the period that it is compared with, if there is one.

    `kind` tells rows apart that have none of the values of `group`. Of one that `is_partial`, only a part of
    its hour, day, week or month is there.
    """

    group: Group
    values: Values
    previous: Values | None = None
    kind: RowKind | None = None
    is_partial: bool = False


@dataclass(frozen=True, slots=True)
class AnalyticsAnswer:
    """Rows of one page, and what all rows come to.

    `notes` are sentences for people: why rows and totals differ, and what is counted in a special way.
    `links` has the links that rows are of, if the query groups by link. `rows_in_all` counts those of all
    pages, and is None where only those of the page were counted; `previous_period` is the one that is
    compared with.
    """

    query: Query
    rows: Sequence[Row]
    totals: Row
    rows_in_all: int | None
    next_cursor: str | None
    notes: Sequence[str]
    previous_period: QueryPeriod | None = None
    links: Mapping[LinkId, Link] = field(default_factory=dict)

    @property
    def rows_left_out(self) -> int | None:
        """How many rows are on other pages; None where only those of this page were counted."""
        return None if self.rows_in_all is None else self.rows_in_all - len(self.rows)


def put_together(
    query: Query, counted: Counted, previous: Counted | None, *, is_whole: bool = False
) -> AnalyticsAnswer:
    """The answer, with the rows of the page that the query asks for, or with all if it `is_whole`.

    If the query `is_read_by_page`, what was counted may begin at the cursor's part of the time. Raises
    InvalidField for a cursor that belongs to another query.
    """
    groups = {*counted.rows, *previous.rows} if previous else set(counted.rows)
    by_page = not is_whole and query.is_read_by_page
    start = 0 if is_whole else page_start(query).position
    end = len(groups) if is_whole else start + query.limit
    ordered = _first_in_order(query, groups, counted, end + 1)
    shown = ordered[start:end]
    before = previous.total if previous else None
    partial = query.partial_labels
    return AnalyticsAnswer(
        query=query,
        rows=[_row(query, each, counted, previous, partial) for each in shown],
        totals=Row((), _values(query, counted.total), _values(query, before) if before else None),
        rows_in_all=None if by_page else len(groups),
        next_cursor=_cursor(query, ordered, end, by_page=by_page) if end < len(groups) else None,
        notes=_notes(counted, previous),
        previous_period=query.period.compared(query.compare) if query.compare else None,
    )


def _row(
    query: Query, group: Group, counted: Counted, previous: Counted | None, partial: Collection[str]
) -> Row:
    values = _values(query, counted.rows.get(group, _NOTHING))
    before = _values(query, previous.rows.get(group, _NOTHING)) if previous else None
    fields = group[: len(query.group_by)]
    kind = RowKind(str(group[-1])) if len(group) > len(fields) else None
    return Row(fields, values, before, kind, _part_of_time(query, group) in partial)


def _part_of_time(query: Query, group: Group) -> str | None:
    """The part of the time that the group is of; None if that is not grouped by."""
    field = query.time_field
    return group[query.group_by.index(Field(field))] if field else None


def _notes(counted: Counted, previous: Counted | None) -> list[str]:
    """What is to be known of both, each once."""
    before = [each for each in previous.notes if each not in counted.notes] if previous else []
    return list(dict.fromkeys((*counted.notes, *(f"In the time compared with: {each}" for each in before))))


_NOTHING = Figures()


def _values(query: Query, figures: Figures) -> Values:
    return {each: _value(each, figures, query.currency) for each in query.measures}


def _value(measure: Measure, figures: Figures, currency: str | None) -> Value:
    match measure:
        case Measure.REVENUE | Measure.REFUNDS | Measure.NET_REVENUE:
            amounts: Amounts = getattr(figures, measure.value)
            return _money(amounts, currency)
        case Measure.CONVERSION_RATE:
            came = float(figures.came_of_links)
            return round(came / figures.clicks, _RATE_DIGITS) if figures.clicks else None
        case Measure.REVENUE_PER_CLICK:
            return _revenue_per_click(figures, currency)
        case Measure.CHANCE_OF_BEST:
            return figures.chance_of_best
    count: int | Fraction = getattr(figures, measure.value)
    return plain_count(count)


def plain_count(count: int | Fraction) -> int | float:
    """A number of leads or conversions: a whole one, or with the fraction that shared credit gives it."""
    return int(count) if count == int(count) else round(float(count), _RATE_DIGITS)


def _revenue_per_click(figures: Figures, currency: str | None) -> Value:
    if not figures.clicks:
        return None
    amounts = {each: amount / figures.clicks for each, amount in figures.exact_revenue_of_links.items()}
    rounded = {each: shown(amount, each, _MORE_DIGITS) for each, amount in amounts.items()}
    return _money(rounded, currency, _MORE_DIGITS)


def _money(amounts: Amounts, currency: str | None, digits: int = 0) -> Value:
    if currency is None:
        return dict(sorted(amounts.items()))
    return amounts.get(currency, shown(Fraction(), currency, digits))


def _first_in_order(query: Query, groups: Iterable[Group], counted: Counted, most: int) -> list[Group]:
    """The first groups by the query's order: those without a value last, equal ones by what they are."""
    order = query.sorting
    sorted_by: dict[Group, Any] = {each: _sorted_by(query, order, each, counted) for each in groups}
    valued = [each for each, value in sorted_by.items() if value is not None]
    others = [each for each, value in sorted_by.items() if value is None]
    if order.is_descending and isinstance(order.column, Field):  # texts have no negative
        valued = sorted(sorted(valued, key=_text_of), key=sorted_by.__getitem__, reverse=True)
    elif order.is_descending:
        valued = nsmallest(most, valued, key=lambda group: (-sorted_by[group], _text_of(group)))
    else:
        valued = nsmallest(most, valued, key=lambda group: (sorted_by[group], _text_of(group)))
    return [*valued, *sorted(others, key=_text_of)][:most]


def _text_of(group: Group) -> tuple[tuple[bool, str], ...]:
    """What tells groups apart, in an order: those that have no such field come last."""
    return tuple((each is None, each or "") for each in group)


def _sorted_by(query: Query, order: Order, group: Group, counted: Counted) -> Any:
    """The group's value in the column that is sorted by, a text or a number; None where there is none."""
    if isinstance(order.column, Field):
        return group[query.group_by.index(order.column)]
    if order.column in MONEY and query.currency is None:  # there is one row
        return 0
    return _value(order.column, counted.rows.get(group, _NOTHING), query.currency)


@dataclass(frozen=True, slots=True)
class PageStart:
    """Where a page begins: so many rows behind the first of this part of the time; None: of all."""

    position: int = 0
    label: str | None = None


def _cursor(query: Query, ordered: Sequence[Group], position: int, *, by_page: bool) -> str:
    """What leads to the row at this position. `by_page`: by its part of the time, from which on is read."""
    parts: list[str | int] = [_mark(query), position]
    if by_page:
        at = query.group_by.index(Field(query.sorting.column))
        label = ordered[position][at] or ""
        parts[1:] = [sum(each[at] == label for each in ordered[:position]), label]
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")


def page_start(query: Query) -> PageStart:
    """Where the page that the query asks for begins. Raises InvalidField for a cursor of another query."""
    text = query.cursor
    if text is None:
        return PageStart()
    try:
        mark, position, *labels = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (ValueError, TypeError, RecursionError):
        raise no_cursor() from None
    label = labels[0] if labels else None
    if type(position) is not int or not 0 <= position <= MOST_ROWS or len(labels) > query.is_read_by_page:
        raise no_cursor()
    if mark != _mark(query):
        raise InvalidField(
            "cursor", "belongs to another query, or to another day where from or to was left out"
        )
    return PageStart(position, label)


def no_cursor() -> InvalidField:
    """What refuses a text that is no cursor."""
    return InvalidField("cursor", "is not one that was answered here")


def _mark(query: Query) -> str:
    """What tells the query apart from others, whatever the size of their pages."""
    filters = {
        name: sorted(values, key=lambda each: each or "") for name, values in sorted(query.filters.items())
    }
    asked = replace(query, cursor=None, limit=1, filters={}, now=None)
    return hashlib.sha256(repr((asked, filters)).encode()).hexdigest()[:16]


def difference(counted: Counted, measures: Iterable[Measure]) -> dict[Measure, int]:
    """For each of these measures that is a plain count: how much more the totals have than all rows."""
    return {
        each: getattr(counted.total, each.value)
        - sum(getattr(row, each.value) for row in counted.rows.values())
        for each in measures
    }
