"""The page Cohorts as a report: tables of cohorts, the time to a sale, and new and returning customers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from backend.domain.analytics.cohorts.cells import OF_MONEY, CellFigure
from backend.domain.analytics.cohorts.cohorts import DEFAULT_WEEKS, check_cohorts
from backend.domain.analytics.cohorts.input import COHORT_FIELDS, CUSTOMER_FIELDS, parse_customers
from backend.domain.analytics.input import Words
from backend.domain.analytics.query import Query
from backend.domain.errors import FieldError, InvalidField, collect_errors, raise_all
from backend.domain.fields.rules import Flag, Rule, parse_fields

_OWN: Mapping[str, Rule[Any]] = {
    "measures": Words(CellFigure, len(CellFigure), 1),
    "weeks": COHORT_FIELDS["weeks"],
    "added_up": Flag(),
}
COHORT_REPORT_FIELDS: Mapping[str, Rule[Any]] = {**CUSTOMER_FIELDS, **_OWN}
# What is shown without `measures`.
_FIGURES = (CellFigure.REVENUE, CellFigure.CUSTOMERS)


@dataclass(frozen=True, slots=True)
class CohortTables:
    """The tables of cohorts: one for each figure, with so many weeks after the first touch.

    With `is_added_up`, a cell has what all weeks until it come to, where that has a sum.
    """

    figures: tuple[CellFigure, ...]
    weeks: int
    is_added_up: bool


def read_cohorts(
    saved: Mapping[str, Any], now: datetime, *, shows_revenue: bool
) -> tuple[Query, CohortTables]:
    """The query about customers of a saved view, and its tables of cohorts.

    Without revenue, tables of amounts are left out. Raises the errors of all fields together.
    """
    errors: list[FieldError] = []
    queries: list[Query] = []
    own = parse_fields(_OWN, saved, errors)
    with collect_errors(errors):
        query = parse_customers({name: value for name, value in saved.items() if name not in _OWN}, now)
        check_cohorts(query.period)
        queries.append(query)
    figures = tuple(
        figure for figure in own.get("measures", _FIGURES) if shows_revenue or figure not in OF_MONEY
    )
    if not figures:
        errors.append(
            InvalidField("measures", "must have one that is no amount, since shows_revenue is false")
        )
    raise_all(errors)
    return queries[0], CohortTables(figures, own.get("weeks", DEFAULT_WEEKS), own.get("added_up", False))
