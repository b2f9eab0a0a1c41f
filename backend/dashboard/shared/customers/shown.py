"""What the page of a report of customers over time shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backend.dashboard.cohorts.shown import CustomerKind, buckets_of, ends_of, kinds_of
from backend.dashboard.cohorts.triangle import SHOWN, Triangle, currencies_of, triangle_of
from backend.dashboard.shared.customers.answer import CustomersAnswer
from backend.domain.analytics.cohorts.cells import ADDED_UP, OF_MONEY, CellFigure
from backend.domain.analytics.cohorts.json_form import cohort_notes
from backend.domain.analytics.cohorts.time_to_sale import TimeToSale
from backend.domain.analytics.query import Query

# The names of the files beside that of the cohorts.
TIME_TO_SALE, NEW_AND_RETURNING = "time-to-sale", "new-and-returning"


@dataclass(frozen=True, slots=True)
class ShownCohorts:
    """A table of cohorts: what its cells show, in which currency ("" for no amounts), and its rows."""

    name: str
    currency: str
    is_added_up: bool
    triangle: Triangle


@dataclass(frozen=True, slots=True)
class ShownCustomers:
    """The parts of the page. `credit` says in words which click the time to a sale begins with."""

    has_customers: bool
    tables: Sequence[ShownCohorts]
    notes: Sequence[str]
    took: TimeToSale
    ends: Sequence[tuple[str, str]]
    buckets: Sequence[tuple[str, list[int]]]
    kinds: Sequence[CustomerKind]
    credit: str


def shown_customers(answer: CustomersAnswer, query: Query) -> ShownCustomers:
    """What a page shows of the answer to the query. Amounts have a table for each currency."""
    shown = answer.tables
    currencies = [query.currency] if query.currency else currencies_of(answer.table)
    return ShownCustomers(
        has_customers=any(cohort.customers for cohort in answer.table.cohorts),
        tables=[
            _table(answer, figure, currency, is_added_up=shown.is_added_up and figure in ADDED_UP)
            for figure in shown.figures
            for currency in (currencies if figure in OF_MONEY else [""])
        ],
        notes=cohort_notes(answer.table),
        took=answer.took,
        ends=ends_of(answer.took),
        buckets=buckets_of(answer.took),
        kinds=kinds_of(answer.kinds),
        credit=query.rules.in_words,
    )


def _table(answer: CustomersAnswer, figure: CellFigure, currency: str, *, is_added_up: bool) -> ShownCohorts:
    triangle = triangle_of(answer.table, figure, currency, is_summed=is_added_up)
    return ShownCohorts(SHOWN[figure], currency, is_added_up, triangle)
