"""What a report of customers over time shows, as CSV files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta

from backend.dashboard.shared.customers.answer import CustomersAnswer
from backend.domain.analytics.cohorts.cells import OF_MONEY, CellFigure
from backend.domain.analytics.cohorts.json_form import amount_text
from backend.domain.analytics.cohorts.sales import SaleFigures
from backend.domain.analytics.cohorts.time_to_sale import EDGES, TimeToSale
from backend.domain.analytics.rows import Cell

CohortLine = list[Cell]


def lines_of_cohorts(found: CustomersAnswer) -> list[CohortLine]:
    """A line for each week after the first touch of each cohort: each week's own figures, never added up."""
    shown = found.tables.figures
    currencies = () if OF_MONEY.isdisjoint(shown) else found.table.currencies
    counts = [figure for figure in (CellFigure.CONVERSIONS, CellFigure.CUSTOMERS) if figure in shown]
    names = {CellFigure.CONVERSIONS: "conversions", CellFigure.CUSTOMERS: "customers_who_bought"}
    heads: CohortLine = ["week", "partial", "customers", "weeks_after", "so_far"]
    lines = [
        [*heads, *(names[figure] for figure in counts), *(f"revenue_{currency}" for currency in currencies)]
    ]
    for cohort in found.table.cohorts:
        for number, week in enumerate(cohort.weeks):
            figures = week.figures
            values = {CellFigure.CONVERSIONS: figures.conversions, CellFigure.CUSTOMERS: figures.customers}
            lines.append(
                [
                    cohort.label,
                    _flag(cohort.is_partial),
                    str(cohort.customers),
                    str(number),
                    _flag(week.is_partial),
                    *(str(values[figure]) for figure in counts),
                    *_amounts(figures, currencies),
                ]
            )
    return lines


def lines_of_times(took: TimeToSale) -> list[CohortLine]:
    """A line for each bucket of the histogram, in seconds; the last one has no end."""
    seconds = [str(int(edge / timedelta(seconds=1))) for edge in EDGES]
    ends = [*seconds[1:], None]
    buckets = zip(seconds, ends, took.counts, strict=True)
    heads: CohortLine = ["from_seconds", "to_seconds", "conversions"]
    return [heads, *([begin, end, str(count)] for begin, end, count in buckets)]


def lines_of_kinds(found: CustomersAnswer, *, shows_revenue: bool) -> list[CohortLine]:
    """A line for new and one for returning customers, and one for sales without a customer id."""
    kinds = found.kinds
    named = {"new": kinds.new, "returning": kinds.returning, "unknown": kinds.unknown}
    currencies = sorted({currency for figures in named.values() for currency in figures.revenue})
    amounts = currencies if shows_revenue else ()
    heads: CohortLine = ["kind", "customers", "conversions", *(f"revenue_{currency}" for currency in amounts)]
    lines: list[CohortLine] = [
        [name, str(figures.customers), str(figures.conversions), *_amounts(figures, amounts)]
        for name, figures in named.items()
    ]
    return [heads, *lines]


def _amounts(figures: SaleFigures, currencies: Sequence[str]) -> Iterable[str]:
    return (
        amount_text(figures.revenue, currency) if currency in figures.revenue else "0"
        for currency in currencies
    )


def _flag(value: bool) -> Cell:
    return "true" if value else None
