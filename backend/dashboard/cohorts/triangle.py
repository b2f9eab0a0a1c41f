"""The table of cohorts: a row for each week of first touches, a column for each week after it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate, dropwhile
from math import ceil

from backend.dashboard.analytics.figures import amount
from backend.domain.analytics.changes import Numeric
from backend.domain.analytics.cohorts.cells import ADDED_UP, CellFigure
from backend.domain.analytics.cohorts.cohorts import Cohort, CohortTable, CohortWeek

# What cells can show.
SHOWN = {
    CellFigure.REVENUE: "Revenue",
    CellFigure.REVENUE_PER_CUSTOMER: "Revenue per customer",
    CellFigure.CONVERSIONS: "Conversions",
    CellFigure.CUSTOMERS: "Customers who bought",
}
_SHADES = 5


@dataclass(frozen=True, slots=True)
class TriangleCell:
    """A number, how dark its cell is (0 to 5), and whether its week is not over for all customers.

    `address` is that of what it counts; "" where that is nothing.
    """

    text: str
    shade: int
    is_partial: bool
    address: str = ""


@dataclass(frozen=True, slots=True)
class TriangleRow:
    """A cohort, with a cell for each week that has begun, and the address of its customers."""

    label: str
    customers: int
    cells: Sequence[TriangleCell]
    is_partial: bool
    address: str = ""


@dataclass(frozen=True, slots=True)
class Triangle:
    """The rows, oldest first, and the numbers of the weeks after the first touch."""

    rows: Sequence[TriangleRow]
    weeks: Sequence[int]


# Of a cohort's label and the number of a week: where what a cell counts is shown. No week: its customers.
CellAddress = Callable[[str, int | None], str]


def no_address(_: str, __: int | None) -> str:
    """Nothing more is shown, as for readers of a report."""
    return ""


def triangle_of(
    table: CohortTable,
    shown: CellFigure,
    currency: str,
    *,
    is_summed: bool,
    address: CellAddress = no_address,
) -> Triangle:
    """The table with these figures, each week's own, or what all weeks until it come to.

    It begins with the first cohort that has customers.
    """
    cohorts = list(dropwhile(lambda cohort: not cohort.customers, table.cohorts))
    numbers = [_numbers(cohort, shown, currency, is_summed=is_summed) for cohort in cohorts]
    largest = max((number for row in numbers for number in row), default=0)
    write = _WRITTEN[shown]
    rows = [
        TriangleRow(
            f"{date.fromisoformat(cohort.label):%-d %b %Y}",
            cohort.customers,
            [
                TriangleCell(
                    write(number) if number else "–",
                    _shade(number, largest),
                    week.is_partial,
                    address(cohort.label, place) if number else "",
                )
                for place, (number, week) in enumerate(zip(row, cohort.weeks, strict=True))
            ],
            cohort.is_partial,
            address(cohort.label, None) if cohort.customers else "",
        )
        for cohort, row in zip(cohorts, numbers, strict=True)
    ]
    return Triangle(rows, range(max((len(row.cells) for row in rows), default=0)))


def currencies_of(table: CohortTable) -> list[str]:
    """The currencies, the one with the largest amount first; EUR where nothing was sold."""
    sums: dict[str, Decimal] = {}
    for cohort in table.cohorts:
        for week in cohort.weeks:
            for currency, sold in week.figures.revenue.items():
                sums[currency] = sums.get(currency, Decimal()) + sold
    return sorted(sums, key=lambda currency: (-sums[currency], currency)) or ["EUR"]


def _numbers(cohort: Cohort, shown: CellFigure, currency: str, *, is_summed: bool) -> list[Numeric]:
    own = [_NUMBERS[shown](week, currency) for week in cohort.weeks]
    numbers = list(accumulate(own)) if is_summed and shown in ADDED_UP else own
    if shown is CellFigure.REVENUE_PER_CUSTOMER:
        return [number / max(1, cohort.customers) for number in numbers]
    return numbers


_NUMBERS: Mapping[CellFigure, Callable[[CohortWeek, str], Numeric]] = {
    CellFigure.REVENUE: lambda week, currency: week.figures.revenue.get(currency, Decimal()),
    CellFigure.REVENUE_PER_CUSTOMER: lambda week, currency: week.figures.revenue.get(currency, Decimal()),
    CellFigure.CONVERSIONS: lambda week, _: week.figures.conversions,
    CellFigure.CUSTOMERS: lambda week, _: week.figures.customers,
}
_WRITTEN: Mapping[CellFigure, Callable[[Numeric], str]] = {
    CellFigure.REVENUE: amount,
    CellFigure.REVENUE_PER_CUSTOMER: amount,
    CellFigure.CONVERSIONS: "{:,}".format,
    CellFigure.CUSTOMERS: "{:,}".format,
}


def _shade(number: Numeric, largest: Numeric) -> int:
    """From 0 for nothing to the darkest."""
    return ceil(_SHADES * Fraction(number) / Fraction(largest)) if number else 0
