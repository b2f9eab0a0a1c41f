"""Single clicks, sales, leads and events as a report: the newest of those that a query counts.

What a row shows to readers without an account is less than what the organization sees (shared_rows.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from backend.domain.analytics.input import FIELDS, UpTo, parse_query
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.query import Query, is_of_events
from backend.domain.errors import InvalidField, collect_errors, raise_all, unknown_fields
from backend.domain.fields.rules import Rule, Word, parse_fields

MOST_SINGLES, DEFAULT_SINGLES = 1_000, 100


class ClicksOf(StrEnum):
    """Which requests for links the rows are."""

    CLICKS = "clicks"
    NOT_COUNTED = "not_counted"


class SalesOf(StrEnum):
    """What of visitors the rows are."""

    SALES = "sales"
    LEADS = "leads"
    EVENTS = "events"


# What is counted of each, which is what rows are of.
COUNTED: Mapping[ClicksOf | SalesOf, tuple[Measure, ...]] = {
    ClicksOf.CLICKS: (Measure.CLICKS,),
    ClicksOf.NOT_COUNTED: (Measure.NOT_COUNTED,),
    SalesOf.SALES: (Measure.CONVERSIONS, Measure.REVENUE, Measure.REFUNDS, Measure.CUSTOMERS),
    SalesOf.LEADS: (Measure.LEADS,),
    SalesOf.EVENTS: (Measure.EVENTS,),
}
_TIMES = ("from", "to", "period", "timezone", "week_starts", "filters")
_LIMIT = UpTo(MOST_SINGLES, DEFAULT_SINGLES)
CLICKS_FIELDS: Mapping[str, Rule[Any]] = {
    **{name: FIELDS[name] for name in _TIMES},
    "of": Word(ClicksOf),
    "limit": _LIMIT,
}
SALES_FIELDS: Mapping[str, Rule[Any]] = {
    **{name: FIELDS[name] for name in (*_TIMES, "currency", "credit", "model", "lookback_days", "as_of")},
    "of": Word(SalesOf),
    "limit": _LIMIT,
}


def read_clicks(saved: Mapping[str, Any], now: datetime) -> tuple[Query, ClicksOf]:
    """The query that counts the rows, whose limit is how many are shown. Raises the errors of all fields."""
    query, fields = _read(saved, CLICKS_FIELDS, now)
    of = fields.get("of", ClicksOf.CLICKS)
    return replace(query, measures=COUNTED[of]), of


def read_sales(saved: Mapping[str, Any], now: datetime) -> tuple[Query, SalesOf]:
    """The query that counts the rows, as `read_clicks`."""
    query, fields = _read(saved, SALES_FIELDS, now)
    of = fields.get("of", SalesOf.SALES)
    return replace(query, measures=COUNTED[of]), of


def _read(
    saved: Mapping[str, Any], rules: Mapping[str, Rule[Any]], now: datetime
) -> tuple[Query, dict[str, Any]]:
    errors = unknown_fields(saved, rules)
    own = ("of", "limit")
    fields = parse_fields(rules, {name: saved[name] for name in own if name in saved}, errors)
    of_query = {name: value for name, value in saved.items() if name in rules and name not in own}
    queries: list[Query] = []
    with collect_errors(errors):
        queries.append(parse_query(of_query, now))
    errors += [
        InvalidField(f"filters.{name}", "can't be filtered by: single rows have no such field")
        for query in queries
        for name in query.filters
        if is_of_events(name) and fields.get("of") is not SalesOf.EVENTS
    ]
    raise_all(errors)
    return replace(queries[0], limit=fields.get("limit", DEFAULT_SINGLES)), fields
