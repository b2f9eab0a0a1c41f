"""Reads questions about customers over time, by the rules of queries of analytics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from backend.domain.analytics.cohorts.cohorts import (
    DEFAULT_WEEKS,
    MOST_WEEKS,
    check_cohorts,
    cohort_rules,
)
from backend.domain.analytics.cohorts.time_to_sale import check_one_touch
from backend.domain.analytics.input import FIELDS, UpTo, parse_query
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.query import Query, is_of_events
from backend.domain.errors import InvalidField, collect_errors, raise_all, unknown_fields
from backend.domain.fields.rules import Rule, parse_fields

_PERIOD = ("from", "to", "period", "timezone", "week_starts")
COHORT_FIELDS: Mapping[str, Rule[Any]] = {
    **{name: FIELDS[name] for name in (*_PERIOD, "filters", "currency", "as_of")},
    "weeks": UpTo(MOST_WEEKS, DEFAULT_WEEKS),
}
# Of the time to a sale, and of new and returning customers.
CUSTOMER_FIELDS: Mapping[str, Rule[Any]] = {
    name: FIELDS[name]
    for name in (*_PERIOD, "filters", "currency", "credit", "model", "lookback_days", "as_of")
}
_MEASURES = (Measure.CONVERSIONS, Measure.CUSTOMERS, Measure.REVENUE, Measure.REFUNDS)


def parse_cohorts(body: Mapping[str, object], now: datetime) -> tuple[Query, int]:
    """The query for cohorts in a body, and the number of weeks to show. Raises the errors of all fields."""
    query, own = _parse(body, COHORT_FIELDS, now)
    check_cohorts(query.period)
    return replace(query, rules=cohort_rules(query.rules.as_of)), own.get("weeks", DEFAULT_WEEKS)


def parse_customers(body: Mapping[str, object], now: datetime) -> Query:
    """The query for the time to a sale, or for new customers. Raises the errors of all fields."""
    query, _ = _parse(body, CUSTOMER_FIELDS, now)
    check_one_touch(query.rules)
    return query


def customers_query(query: Query) -> Query:
    """The query with what such questions count. Raises InvalidField for a filter that no conversion has."""
    for name in query.filters:
        if is_of_events(name):
            raise InvalidField(f"filters.{name}", "can't be filtered by: a conversion has no such field")
    return replace(query, measures=_MEASURES, group_by=(), order=None, compare=None, change=False)


def _parse(
    body: Mapping[str, object], rules: Mapping[str, Rule[Any]], now: datetime
) -> tuple[Query, dict[str, Any]]:
    """The query in a body, and the fields that queries do not have."""
    errors = unknown_fields(body, rules)
    given = {name: value for name, value in body.items() if name in FIELDS and name in rules}
    queries: list[Query] = []
    with collect_errors(errors):
        queries.append(customers_query(parse_query(given, now)))
    own = {name: rule for name, rule in rules.items() if name not in FIELDS}
    fields = parse_fields(own, body, errors)
    raise_all(errors)
    return queries[0], fields
