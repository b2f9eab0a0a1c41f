"""The query of a report, made of the view that a page shows."""

from __future__ import annotations

import json
from collections.abc import Container, Mapping
from datetime import date, timedelta
from typing import Any

from backend.dashboard.analytics.attribution import FIELDS
from backend.dashboard.analytics.view import MOVING_PERIODS, AnyDay, View
from backend.domain.analytics.query import Field, Measure
from backend.domain.sales.credit_rules import CreditTo, Model

# What the pages with views add to their addresses, as far as a report can have it.
CHOICES: Mapping[str, Container[str]] = {
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
    Measure.REVENUE,
    Measure.REFUNDS,
    Measure.NET_REVENUE,
    Measure.REVENUE_PER_CLICK,
)
GROUPINGS = (Field.DAY, Field.WEEK, Field.MONTH, *FIELDS)
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
    }
    return {
        "timezone": view.zone.key,
        "filters": {by.value: [value] for by, value in view.filters.items()},
        **_period(view),
        **{name: value for name, value in optional.items() if value is not None},
    }


def default_grouping(view: View) -> Field:
    """What the rows of the view are of: of the page's field, else of a part of the time."""
    return Field(view.others["by"]) if "by" in view.others else Field(view.time_field)


def read_json(text: str) -> Mapping[str, Any]:
    """The fields of a query that a form has kept as JSON; none for what is no object."""
    try:
        kept = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return kept if isinstance(kept, dict) else {}


def _period(view: View) -> dict[str, str]:
    """The period as a word, or as its first and last day: without a last one it goes on until today."""
    if view.preset in MOVING_PERIODS:
        return {"period": MOVING_PERIODS[view.preset].value}
    since = view.since if view.preset != "all" and view.since else _day(view)
    until = view.until if view.preset != "all" else ""
    return {"from": since} | ({"to": f"{date.fromisoformat(until) + _DAY}"} if until else {})


def _day(view: View) -> str:
    """The first day of the view's period."""
    return view.period.start.astimezone(view.zone).date().isoformat()
