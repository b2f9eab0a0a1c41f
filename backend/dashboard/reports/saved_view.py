"""The kind and the query of a report, made of the view that a page shows."""

from __future__ import annotations

import json
from collections.abc import Container, Mapping, Sequence
from datetime import date, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from backend.dashboard.analytics.attribution import FIELDS
from backend.dashboard.analytics.events import events_cards
from backend.dashboard.analytics.sorting import SORT, orders_of
from backend.dashboard.analytics.tables import CARDS
from backend.dashboard.analytics.tables import CHOICES as OVERVIEW_CHOICES
from backend.dashboard.analytics.tables import MEASURES as TABLE_MEASURES
from backend.dashboard.analytics.view import MOVING_PERIODS, AnyDay, View
from backend.dashboard.links.link_query import LinkQuery
from backend.domain.analytics.cohorts.cells import CellFigure
from backend.domain.analytics.event_properties import EventProperty
from backend.domain.analytics.funnels.funnel import Funnel
from backend.domain.analytics.funnels.input import funnel_json
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.query import DIFFERENCE, LINK_FIELDS, Field, QueryField, is_of_events
from backend.domain.feed.events import EventType
from backend.domain.reports.live import LIVE_FIGURES, LiveFigure
from backend.domain.reports.overview import FIGURES
from backend.domain.reports.singles import ClicksOf, SalesOf
from backend.domain.reports.views import ViewKind
from backend.domain.sales.credit_rules import CreditTo, Model

# The page that a view is of, where its kind does not say so.
_PAGE, _EVENTS = "page", "events"
# What the pages with views add to their addresses, as far as a report can have it.
CHOICES: Mapping[str, Container[str]] = OVERVIEW_CHOICES | {
    "kind": tuple(kind.value for kind in ViewKind),
    "chart": tuple(measure.value for measure in Measure),
    SORT: orders_of((*TABLE_MEASURES, Measure.EVENTS)),
    _PAGE: (_EVENTS,),
    "show": tuple(CellFigure),
    "sum": ("1",),
    "of": (ClicksOf.NOT_COUNTED, SalesOf.LEADS, SalesOf.EVENTS),
    "by": tuple(field.value for field in FIELDS),
    "touch": tuple(Model),
    "credit": tuple(CreditTo),
    "window": ("1", "7", "30", "90", "365"),
    "as_of": AnyDay(),
}
# In the order of the form.
MEASURES = (
    Measure.CLICKS,
    Measure.VISITORS,
    Measure.OPENS,
    Measure.LEADS,
    Measure.CONVERSIONS,
    Measure.CONVERSION_RATE,
    Measure.CUSTOMERS,
    Measure.CONTACTS,
    Measure.EVENTS,
    Measure.IDENTITIES,
    Measure.REVENUE,
    Measure.REFUNDS,
    Measure.NET_REVENUE,
    Measure.REVENUE_PER_CLICK,
    Measure.COST,
    Measure.RETURN_ON_AD_SPEND,
    Measure.COST_PER_CLICK,
    Measure.COST_PER_CONVERSION,
)
_COLUMNS = (
    Measure.CLICKS,
    Measure.VISITORS,
    Measure.CONVERSIONS,
    Measure.CONVERSION_RATE,
    Measure.REVENUE,
)
# What a table of an overview may be by.
TABLE_FIELDS = tuple(
    dict.fromkeys([*(field for card in CARDS for field in card.fields), *FIELDS, Field.EVENT])
)
GROUPINGS = (Field.DAY, Field.WEEK, Field.MONTH, *FIELDS, Field.EVENT)
# The fields of a view that kinds without a table have.
_OF_ROWS = frozenset({"timezone", "filters", "period", "from", "to"})
_OF_CREDIT = frozenset({"currency", "credit", "model", "lookback_days", "as_of"})
_KEPT: Mapping[ViewKind, frozenset[str]] = {
    ViewKind.COHORTS: _OF_ROWS | _OF_CREDIT,
    ViewKind.CLICKS: _OF_ROWS,
    ViewKind.SALES: _OF_ROWS | _OF_CREDIT,
}
# Of the types of events on the page Live, those whose numbers can be shared.
_LIVE_TYPES = {
    EventType.CLICK: LiveFigure.CLICKS,
    EventType.LEAD: LiveFigure.LEADS,
    EventType.CONVERSION: LiveFigure.CONVERSIONS,
    EventType.EVENT: LiveFigure.EVENTS,
}
_ROWS = frozenset({ViewKind.CLICKS, ViewKind.SALES})
_DAY = timedelta(days=1)


def view_json(view: View) -> dict[str, Any]:
    """The period, filters and rules of the view as fields of a query; its presets move with the time."""
    others = view.others
    optional: dict[str, Any] = {
        "compare": view.comparison.value if view.comparison else None,
        "currency": view.currency,
        "credit": others.get("credit"),
        "model": others.get("touch"),
        "lookback_days": int(others["window"]) if "window" in others else None,
        "as_of": others.get("as_of"),
        "order_by": _order(view),
    }
    kept = {
        "timezone": view.zone.key,
        "filters": {by.value: [value] for by, value in view.filters.items()},
        **_period(view),
        **{name: value for name, value in optional.items() if value is not None},
    }
    kind = kind_in(view)
    return {name: value for name, value in kept.items() if name in _KEPT.get(kind, kept)} | _own(view, kind)


def _own(view: View, kind: ViewKind) -> dict[str, Any]:
    """What only this kind has besides the view, and its form does not ask for."""
    if kind is ViewKind.COHORTS:
        return {"added_up": True} if "sum" in view.others else {}
    return {"of": view.others["of"]} if kind in _ROWS and "of" in view.others else {}


def saved_funnel_json(view: View, funnel: Funnel) -> dict[str, Any]:
    """The funnel in the period of the view as fields of a query. Later changes of the funnel don't matter."""
    return funnel_json(funnel) | {"timezone": view.zone.key, **_period(view)}


def saved_list_json(query: LinkQuery) -> dict[str, Any]:
    """The list of links as fields of a query: its filters, its order, and the period of its figures."""
    chosen, sort = query.filter, query.link_sort
    filters = {
        "search": chosen.search,
        "domain": chosen.domain,
        "state": chosen.state and chosen.state.value,
        "tag": chosen.tag,
        "campaign": chosen.campaign,
        "created_by": chosen.created_by and chosen.created_by.value,
        "created_after": chosen.created_after and chosen.created_after.isoformat(),
        "created_before": chosen.created_before and chosen.created_before.isoformat(),
    }
    column = sort.order.value if sort else query.column.value
    currency = {"currency": query.view.currency} if query.view.currency else {}
    return {
        "timezone": query.view.zone.key,
        "filters": {name: value for name, value in filters.items() if value},
        "order_by": f"{'-' * query.is_descending}{column}",
        **currency,
        **_period(query.view),
    }


def saved_live_json(types: Container[str], zone: ZoneInfo) -> tuple[dict[str, Any], Sequence[LiveFigure]]:
    """Live as fields of a query, and its figures: those of the types in the address, if it has any."""
    chosen = [figure for type_, figure in _LIVE_TYPES.items() if type_.value in types]
    return {"timezone": zone.key}, chosen or LIVE_FIGURES


def kind_in(view: View) -> ViewKind:
    """What is shared of the view."""
    return ViewKind(view.others.get("kind", ViewKind.TABLE))


def figures_of(view: View) -> list[Measure]:
    """The measures that are shared unless others are chosen; the overview's chart shows the first one."""
    if _is_of_events(view):
        chosen = [Measure.EVENTS, *([] if any(map(is_of_events, view.filters)) else [Measure.IDENTITIES])]
        return sorted(chosen, key=lambda measure: measure != view.others.get("chart"))
    if Field.LINK in view.filters:
        return [Measure.CLICKS, Measure.VISITORS]
    if kind_in(view) is ViewKind.TABLE:
        return [*_COLUMNS]
    chart = [Measure(view.others["chart"])] if "chart" in view.others else []
    return list(dict.fromkeys(measure for measure in (*chart, *FIGURES) if measure in MEASURES))


def figures_of_cohorts(view: View) -> list[CellFigure]:
    """What tables of cohorts show unless others are chosen: what the page shows, and who came back."""
    return list(
        dict.fromkeys([CellFigure(view.others.get("show", CellFigure.REVENUE)), CellFigure.CUSTOMERS])
    )


def tables_of(view: View, properties: Sequence[EventProperty]) -> list[QueryField]:
    """The fields of the overview's tables in this view, without those that one link has one value of.

    `properties` are those of events that the organization has marked.
    """
    cards = events_cards(properties) if _is_of_events(view) else CARDS
    fields = [card.field(view) for card in cards]
    return [field for field in fields if Field.LINK not in view.filters or field not in LINK_FIELDS]


def default_grouping(view: View) -> Field:
    """What the rows of the view are of: of the page's field, else of a part of the time."""
    if _is_of_events(view):
        return Field.EVENT
    return Field(view.others["by"]) if "by" in view.others else Field(view.time_field)


def read_json(text: str) -> Mapping[str, Any]:
    """The fields of a query that a form has kept as JSON; none for what is no object."""
    try:
        kept = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return kept if isinstance(kept, dict) else {}


def _is_of_events(view: View) -> bool:
    """Whether it is a view of the page Events."""
    return view.others.get(_PAGE) == _EVENTS


def _period(view: View) -> dict[str, str]:
    """The period as a word, or as its first and last day: without a last one it goes on until today."""
    if view.preset in MOVING_PERIODS:
        return {"period": MOVING_PERIODS[view.preset].value}
    since = view.since if view.preset != "all" and view.since else _day(view)
    until = view.until if view.preset != "all" else ""
    return {"from": since} | ({"to": f"{date.fromisoformat(until) + _DAY}"} if until else {})


def _order(view: View) -> str | None:
    """The order of the overview's tables. By amounts of several currencies, they are sorted without it."""
    word = view.others.get(SORT, "")
    name = word.rpartition(".")[2].removeprefix("-")
    is_amount = name in set(Measure) and Measure(name).is_money
    is_by_change = DIFFERENCE in word
    if kind_in(view) is not ViewKind.OVERVIEW or (is_amount and not view.currency):
        return None
    return None if is_by_change and not view.comparison else word or None


def _day(view: View) -> str:
    """The first day of the view's period."""
    return view.period.start.astimezone(view.zone).date().isoformat()
