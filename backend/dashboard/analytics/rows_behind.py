"""Where numbers lead: the pages of the single clicks, sales, customers and costs that they count."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from urllib.parse import urlencode

from quart import url_for

from backend.dashboard.analytics.figures import RowsBehind, label_of
from backend.dashboard.analytics.view import CUSTOM, View
from backend.domain.analytics.measures import Measure, MeasureKind
from backend.domain.analytics.period import QUARTER_SECONDS, TimeField
from backend.domain.analytics.query import Field, QueryField, is_of_events
from backend.domain.ids import LinkId
from backend.domain.reports.singles import ClicksOf, SalesOf

# The page of what a measure is made of, what it shows then, and what a link to it is called.
_PAGES: Mapping[Measure, tuple[str, ClicksOf | SalesOf, str]] = {
    Measure.CLICKS: ("clicks", ClicksOf.CLICKS, "The single clicks"),
    Measure.VISITORS: ("clicks", ClicksOf.CLICKS, "The single clicks"),
    Measure.NOT_COUNTED: ("clicks", ClicksOf.NOT_COUNTED, "The single requests"),
    Measure.LEADS: ("sales", SalesOf.LEADS, "The single leads"),
    Measure.CONTACTS: ("sales", SalesOf.LEADS, "The single leads"),
    Measure.EVENTS: ("sales", SalesOf.EVENTS, "The single events"),
    **dict.fromkeys(
        (
            Measure.CONVERSIONS,
            Measure.CUSTOMERS,
            Measure.REVENUE,
            Measure.REFUNDS,
            Measure.NET_REVENUE,
            Measure.CONVERSION_RATE,
            Measure.REVENUE_PER_CLICK,
        ),
        ("sales", SalesOf.SALES, "The single sales, and why they are credited so"),
    ),
}
# What pages show unless their address says otherwise.
_SHOWN_FIRST = frozenset({ClicksOf.CLICKS, SalesOf.SALES})
# The arguments of an address that say who gets the credit. Pages of clicks do without them.
CREDIT_ARGUMENTS = ("touch", "credit", "window", "as_of")


def rows_behind(
    measure: Measure, view: View, by: QueryField | None = None, value: str | None = None
) -> RowsBehind | None:
    """The page of what a measure counts in this view, of one row if `by` is given; None if there is none.

    Only the page of single events has filters by names and properties of events.
    """
    if measure.kind is MeasureKind.COSTS:
        return _costs_behind(view, {**view.filters, **({by: value} if by else {})})
    if measure not in _PAGES:
        return None
    endpoint, what, words = _PAGES[measure]
    if what is not SalesOf.EVENTS and any(map(is_of_events, [*view.filters, *([by] if by else [])])):
        return None
    kept: Container[str] = CREDIT_ARGUMENTS if endpoint == "sales" else ()
    changes: dict[str, str | None] = {name: None for name in view.others if name not in kept}
    if endpoint == "clicks":
        changes["currency"] = None
    changes["of"] = None if what in _SHOWN_FIRST else what
    changes["compare"] = None
    if by:
        changes[by.value] = value or ""
    return RowsBehind(words, view.address(url_for(f"dashboard.{endpoint}"), **changes))


def _costs_behind(view: View, fields: Mapping[QueryField, str | None]) -> RowsBehind | None:
    """The page of the costs in this view. Of all fields they have only a campaign."""
    if fields.keys() - {Field.CAMPAIGN} or not all(fields.values()):
        return None
    ends = (view.period.start, view.period.end - timedelta(seconds=1))
    first, last = (f"{end.astimezone(view.zone):%Y-%m-%d}" for end in ends)
    currency = {"currency": view.currency} if view.currency else {}
    named = {"from": first, "to": last, **{by.value: value for by, value in fields.items()}, **currency}
    return RowsBehind("The single costs", f"{url_for('dashboard.costs')}?{urlencode(named)}")


def rows_address(measure: Measure, view: View, by: QueryField, value: str | None) -> str:
    """The address of the page of what a row's number counts; "" if there is none."""
    behind = rows_behind(measure, view, by, value)
    return behind.address if behind else ""


def addresses_over_time(measure: Measure, view: View) -> dict[str, str]:
    """The addresses of what a measure counts in each day, week or month of the view, by its label.

    Pages of single facts have whole days, so hours have none.
    """
    if view.time_field is TimeField.HOUR:
        return {}
    addresses = {}
    for span in view.period.spans(view.time_field):
        ends = (span.first * QUARTER_SECONDS, span.end * QUARTER_SECONDS - 1)
        first, last = (f"{datetime.fromtimestamp(end, view.zone):%Y-%m-%d}" for end in ends)
        behind = rows_behind(measure, replace(view, preset=CUSTOM, since=first, until=last))
        if behind:
            addresses[label_of(view.time_field, span.label)] = behind.address
    return addresses


def rows_of_link(measure: Measure, link_id: LinkId) -> RowsBehind | None:
    """The page of what a measure counts of a link in the default period; None if there is none."""
    if measure not in _PAGES:
        return None
    endpoint, what, words = _PAGES[measure]
    of = {} if what in _SHOWN_FIRST else {"of": what}
    return RowsBehind(words, f"{url_for(f'dashboard.{endpoint}')}?{urlencode({'link': link_id} | of)}")


def sale_address(order: str | None, rules: Mapping[str, str] | None = None) -> str:
    """The explanation of the sale of this order, by these rules of credit; "" for a sale without one."""
    return (
        f"{url_for('dashboard.attribution_sale')}?{urlencode({'order': order, **(rules or {})})}"
        if order
        else ""
    )


def customer_address(customer: str) -> str:
    """The page of all that a customer did."""
    return f"{url_for('dashboard.customer')}?{urlencode({'id': customer})}"
