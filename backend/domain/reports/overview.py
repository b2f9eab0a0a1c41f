"""The overview as a report: figures, their course over time, and a table for each field of `group_by`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from backend.domain.analytics.answer import Values
from backend.domain.analytics.input import UpTo, Words, parse_query
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.query import MOST_LIMIT, TIMES, Field, Order, Query, QueryField, is_of_events
from backend.domain.errors import FieldError, InvalidField, collect_errors, raise_all
from backend.domain.fields.rules import Rule, parse_fields

MOST_TABLES = 8
MOST_TABLE_ROWS, DEFAULT_TABLE_ROWS = 100, 8  # of each table
# What an overview has without `measures` and `group_by`.
FIGURES = (
    Measure.CLICKS,
    Measure.VISITORS,
    Measure.LEADS,
    Measure.CONVERSIONS,
    Measure.CONVERSION_RATE,
    Measure.REVENUE,
)
TABLES = (Field.CAMPAIGN, Field.LINK, Field.REFERRING_SITE, Field.COUNTRY, Field.PLATFORM)
# Of its measures, those that are columns of the tables.
_COLUMNS = frozenset({Measure.CLICKS, Measure.CONVERSIONS, Measure.REVENUE})
# Where its query has other rules than that of a table.
OVERVIEW_FIELDS: Mapping[str, Rule[Any]] = {
    "group_by": Words(Field, MOST_TABLES, has_event_fields=True),
    "limit": UpTo(MOST_TABLE_ROWS, DEFAULT_TABLE_ROWS),
}
_MOST_CURRENCIES = 10


def read_overview(saved: Mapping[str, Any], now: datetime) -> tuple[Query, Sequence[QueryField], int]:
    """The figures of a saved overview, the fields of its tables, and how many rows each of these has.

    Raises the errors of all fields together.
    """
    errors: list[FieldError] = []
    queries: list[Query] = []
    own = {name: value for name, value in saved.items() if name in OVERVIEW_FIELDS}
    fields = parse_fields(OVERVIEW_FIELDS, own, errors)
    with collect_errors(errors):
        others = {name: value for name, value in saved.items() if name not in own}
        queries.append(parse_query({"measures": list(FIGURES), **others}, now))
    tables: Sequence[QueryField] = fields.get("group_by", TABLES)
    if times := TIMES.intersection(tables):
        errors.append(InvalidField("group_by", f"can't have {min(times)}: the chart shows the time"))
    raise_all(errors)
    return queries[0], tables, fields.get("limit", DEFAULT_TABLE_ROWS)


def overview_queries(figures: Query, tables: Sequence[QueryField], rows: int) -> tuple[Query, ...]:
    """What is asked for an overview: the course of its figures first, then each of its tables."""
    time = Field(figures.period.time_field)
    course = replace(figures, group_by=(time,), order=None, limit=MOST_LIMIT)
    return (course, *(_table(figures, by, rows) for by in tables))


def by_revenue(table: Query, totals: Values) -> Query:
    """The table with most revenue first if there is any, and no other order was asked for."""
    amounts = totals.get(Measure.REVENUE)
    if table.order or Measure.REVENUE not in table.measures or not amounts:
        return table
    currencies: tuple[str, ...] = ()
    if isinstance(amounts, Mapping):
        largest = sorted(amounts, key=lambda currency: (-amounts[currency], currency))
        currencies = tuple(currency for currency in largest if amounts[currency])[:_MOST_CURRENCIES]
        if not currencies:
            return table
    return replace(table, order=Order(Measure.REVENUE, is_descending=True, currencies=currencies))


def _table(figures: Query, by: QueryField, rows: int) -> Query:
    """Custom events are the only thing that has their fields."""
    if is_of_events(by):
        return replace(figures, measures=(Measure.EVENTS,), group_by=(by,), order=None, limit=rows)
    sorted_by = figures.order.column if figures.order else None
    columns = tuple(measure for measure in figures.measures if measure in _COLUMNS or measure == sorted_by)
    return replace(figures, measures=columns or figures.measures[:1], group_by=(by,), limit=rows)
