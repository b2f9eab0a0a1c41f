"""The query of a list of links, as an address has it: filters, order, and the period of the figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from enum import StrEnum

from quart import request

from backend.dashboard.analytics.answers import Chip, view_of_request
from backend.dashboard.analytics.view import LONGEST_FILTER, View, read_day
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.period import Comparison
from backend.domain.links.links import CreatedBy, LinkState
from backend.domain.links.listing import LinkFilter, LinkOrder, LinkSort

STATES = {
    "": "In use",
    LinkState.ENABLED: "Enabled",
    LinkState.DISABLED: "Disabled",
    LinkState.NOT_STARTED: "Not started",
    LinkState.EXPIRED: "Expired",
    LinkState.HELD: "Held",
    LinkState.ARCHIVED: "Archived",
}
# The ways in which links are made, in words for people who do not know the kinds of keys.
MADE_BY = {
    CreatedBy.PERSON: "In the dashboard or on the command line",
    CreatedBy.REST: "Over the REST API",
    CreatedBy.SDK: "By an app",
}
_CHOICES = {"state": tuple(LinkState), "created_by": tuple(CreatedBy)}
_LONGEST_SEARCH = 500
_DAY = timedelta(days=1)


class Column(StrEnum):
    """A column by which the list can be sorted."""

    MADE = "made"
    NAME = "name"
    CLICKS = "clicks"
    CONVERSIONS = "conversions"
    REVENUE = "revenue"


COLUMNS = {
    Column.MADE: "Made",
    Column.NAME: "Name",
    Column.CLICKS: "Clicks",
    Column.CONVERSIONS: "Conversions",
    Column.REVENUE: "Revenue",
}
# The columns that are fields of links, and those that are figures.
_ORDERS = {Column.MADE: LinkOrder.CREATED, Column.NAME: LinkOrder.NAME}
_MEASURES = {
    Column.CLICKS: Measure.CLICKS,
    Column.CONVERSIONS: Measure.CONVERSIONS,
    Column.REVENUE: Measure.REVENUE,
}
_SORTS = tuple(f"{sign}{column}" for column in Column for sign in ("-", ""))
_NEWEST = "-made"
# The longest value of each text in the address.
_TEXTS = {
    "q": _LONGEST_SEARCH,
    "domain": LONGEST_FILTER,
    "campaign": 1024,
    "tag": LONGEST_FILTER,
    "made_from": 20,
    "made_to": 20,
}
_CHIPS = {
    "q": "Search",
    "domain": "Domain",
    "campaign": "Campaign",
    "tag": "Tag",
    "created_by": "Made",
    "made_from": "Made from",
    "made_to": "Made to",
}


@dataclass(frozen=True, slots=True)
class LinkQuery:
    """A parsed query. `errors` has the problems of its filters, `view.errors` those of its period."""

    view: View
    filter: LinkFilter
    column: Column
    is_descending: bool
    errors: Mapping[str, str]

    @property
    def sort(self) -> str:
        """The order as it stands in an address."""
        return f"{'-' * self.is_descending}{self.column}"

    @property
    def link_sort(self) -> LinkSort | None:
        """The order, if it is by a field of links; else None."""
        order = _ORDERS.get(self.column)
        return LinkSort(order, self.is_descending) if order else None

    @property
    def measure(self) -> Measure | None:
        """The figure by which links are sorted; None if the order is by a field of links."""
        return _MEASURES.get(self.column)

    @property
    def can_match(self) -> bool:
        """Whether any link can match: none contains a zero byte, which MongoDB can't look for."""
        return not any("\x00" in text for text in self.view.others.values())

    def address(self, path: str, **changes: str | None) -> str:
        """The path with this query and these changes of its parameters; None removes one."""
        return self.view.address(path, **changes)

    def chips(self, path: str) -> list[Chip]:
        """The filters that are set, each with the address without it."""
        currency = self.view.currency
        of_view = [Chip("Currency", currency, self.view.address(path, currency=None))] if currency else []
        return of_view + [
            Chip(label, _words(name, self.view.others[name]), self.view.address(path, **{name: None}))
            for name, label in _CHIPS.items()
            if name in self.view.others
        ]

    def text(self, name: str) -> str:
        """The value of this text parameter; "" if the address has none."""
        return self.view.others.get(name, "")


async def read_link_query() -> LinkQuery:
    """The query in the address of the current request."""
    view = await view_of_request({"sort": _SORTS, **_CHOICES})
    texts = {name: request.args.get(name, "").strip()[:most] for name, most in _TEXTS.items()}
    others = dict(view.others) | {name: text for name, text in texts.items() if text}
    # A list of links shows no comparison, and its own filters replace those of analytics.
    view = replace(view, others=others, filters={}, comparison=Comparison.PREVIOUS)
    errors: dict[str, str] = {}
    first, last = (read_day(name, texts[name], errors) for name in ("made_from", "made_to"))
    if first and last and last < first:
        errors["made_to"] = "must not be before the first day"
    state, created_by = (others.get(name) for name in _CHOICES)
    sort = others.get("sort", _NEWEST)
    return LinkQuery(
        view,
        LinkFilter(
            search=texts["q"] or None,
            domain=texts["domain"] or None,
            campaign=texts["campaign"] or None,
            tag=texts["tag"] or None,
            state=LinkState(state) if state else None,
            created_by=CreatedBy(created_by) if created_by else None,
            created_after=_midnight(first, view) if first else None,
            created_before=_midnight(last + _DAY, view) if last else None,
        ),
        Column(sort.removeprefix("-")),
        sort.startswith("-"),
        errors,
    )


def _midnight(day: date, view: View) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=view.zone)


def _words(name: str, value: str) -> str:
    return MADE_BY[CreatedBy(value)] if name == "created_by" else value
