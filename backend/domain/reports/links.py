"""The list of links as a report: which links, in which order, and what came of each.

Readers without an account see a link's name, its short URL, the day on which it was made, and its figures.
Where it leads, its tags, its external id and how it was made are no part of what they are answered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from backend.domain.analytics.answer import Row
from backend.domain.analytics.input import FIELDS, UpTo, Words, parse_query
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.query import Field, Query
from backend.domain.errors import InvalidField, collect_errors, raise_all, unknown_fields
from backend.domain.fields.rules import Rule, Schema, parse_fields, parse_string
from backend.domain.links.links import CreatedBy, LinkState
from backend.domain.links.listing import FILTERS, NEWEST_FIRST, LinkFilter, LinkOrder, LinkSort

MOST_LISTED, DEFAULT_LISTED = 1_000, 100
_STATES = {state: state.value.replace("_", " ") for state in LinkState}
_MADE_BY = {
    CreatedBy.PERSON: "in the dashboard or on the command line",
    CreatedBy.REST: "over the REST API",
    CreatedBy.SDK: "by an app",
}


class ListFigure(StrEnum):
    """What came of a link, as the list shows it."""

    CLICKS = "clicks"
    CONVERSIONS = "conversions"
    REVENUE = "revenue"

    @property
    def measure(self) -> Measure:
        """What is counted."""
        return Measure(self.value)


# By what the links are sorted: a field of theirs, or what came of them.
ListOrder = LinkSort | tuple[Measure, bool]
_ORDERS = {LinkOrder.CREATED: "made", LinkOrder.NAME: "name"}


class LinkFilters:
    """The filters of a list of links, as `GET /links` has them."""

    def parse(self, field: str, value: object) -> LinkFilter:
        """The filter. Raises the errors of all fields together."""
        if not isinstance(value, Mapping):
            raise InvalidField(field, "must be an object")
        errors = unknown_fields(value, FILTERS, f"{field}.")
        parsed = parse_fields(FILTERS, value, errors, f"{field}.")
        raise_all(errors)
        return LinkFilter(**parsed)

    def schema(self) -> Schema:
        """JSON Schema of the filters."""
        return {
            "type": "object",
            "additionalProperties": False,
            "properties": {name: rule.schema() for name, rule in FILTERS.items()},
        }


class ListOrderRule:
    """What the list is sorted by, with `-` before it for descending."""

    _WORDS = (*(order.value for order in _ORDERS), *(figure.value for figure in ListFigure))

    def parse(self, field: str, value: object) -> ListOrder:
        """The order. Raises InvalidField."""
        text = parse_string(field, value)
        named, is_descending = text.removeprefix("-"), text.startswith("-")
        if named not in self._WORDS:
            raise InvalidField(field, f"must be one of {', '.join(self._WORDS)}, with - before it or without")
        if named in set(ListFigure):
            return Measure(named), is_descending
        return LinkSort(LinkOrder(named), is_descending)

    def schema(self) -> Schema:
        """JSON Schema of all orders, in both directions."""
        return {"type": "string", "enum": [*self._WORDS, *(f"-{word}" for word in self._WORDS)]}


_TIMES = ("from", "to", "period", "timezone", "week_starts", "currency")
_OWN: Mapping[str, Rule[Any]] = {
    "measures": Words(ListFigure, len(ListFigure), 1),
    "filters": LinkFilters(),
    "order_by": ListOrderRule(),
    "limit": UpTo(MOST_LISTED, DEFAULT_LISTED),
}
LIST_REPORT_FIELDS: Mapping[str, Rule[Any]] = {**{name: FIELDS[name] for name in _TIMES}, **_OWN}


@dataclass(frozen=True, slots=True)
class LinkList:
    """Which links are listed, in which order, and the query of what came of each."""

    query: Query
    filter: LinkFilter
    order: ListOrder = NEWEST_FIRST

    @property
    def filter_words(self) -> list[tuple[str, str]]:
        """Pairs of what is filtered and what is left, such as ("Tag", "print")."""
        chosen, words = self.filter, list[tuple[str, str]]()
        for label, value in (
            ("Search", chosen.search),
            ("Domain", chosen.domain),
            ("State", _STATES[chosen.state] if chosen.state else None),
            ("Tag", chosen.tag),
            ("Campaign", chosen.campaign),
            ("External id", chosen.external_id),
            ("Made", _MADE_BY[chosen.created_by] if chosen.created_by else None),
            ("Made from", _day(chosen.created_after)),
            ("Made before", _day(chosen.created_before)),
            ("Changed from", _day(chosen.modified_after)),
            ("Changed before", _day(chosen.modified_before)),
        ):
            words += [(label, value)] if value else []
        return words

    @property
    def order_words(self) -> str:
        """What the links are sorted by, such as "clicks, most first"."""
        if isinstance(self.order, LinkSort):
            of_times = self.order.order is LinkOrder.CREATED
            first = ("newest first", "oldest first") if of_times else ("Z to A", "A to Z")
            return f"{_ORDERS[self.order.order]}, {first[not self.order.is_descending]}"
        measure, is_descending = self.order
        return f"{measure}, {'most' if is_descending else 'least'} first"


@dataclass(frozen=True, slots=True)
class SharedLink:
    """A link as readers without an account see it, with what came of it."""

    name: str
    domain: str
    path: str
    made_at: datetime
    figures: Row


@dataclass(frozen=True, slots=True)
class SharedLinks:
    """The first of the links, of `total`, and the query that their figures answer."""

    query: Query
    links: Sequence[SharedLink]
    total: int


def read_links(saved: Mapping[str, Any], now: datetime, *, shows_revenue: bool) -> LinkList:
    """The saved list. Raises the errors of all fields.

    Without revenue, amounts are left out, and so is an order by them.
    """
    errors = unknown_fields(saved, LIST_REPORT_FIELDS)
    own = parse_fields(_OWN, saved, errors)
    queries: list[Query] = []
    with collect_errors(errors):
        queries.append(parse_query({name: saved[name] for name in _TIMES if name in saved}, now))
    measures = [figure.measure for figure in own.get("measures", tuple(ListFigure))]
    shown = tuple(measure for measure in measures if shows_revenue or not measure.is_money)
    if not shown:
        rule = "must have one that is no amount, since shows_revenue is false"
        errors.append(InvalidField("measures", rule))
    raise_all(errors)
    order = own.get("order_by", NEWEST_FIRST)
    if not isinstance(order, LinkSort) and order[0].is_money and not shows_revenue:
        order = NEWEST_FIRST
    query = replace(
        queries[0], measures=shown, group_by=(Field.LINK,), limit=own.get("limit", DEFAULT_LISTED)
    )
    return LinkList(query, own.get("filters", LinkFilter()), order)


def _day(at: datetime | None) -> str | None:
    return f"{at:%-d %b %Y, %H:%M} UTC" if at else None
