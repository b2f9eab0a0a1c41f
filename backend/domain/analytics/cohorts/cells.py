"""What the cells of a table of cohorts can show."""

from __future__ import annotations

from enum import StrEnum


class CellFigure(StrEnum):
    """What a cohort did in a week after the first touch."""

    REVENUE = "revenue"
    REVENUE_PER_CUSTOMER = "revenue_per_customer"
    CONVERSIONS = "conversions"
    CUSTOMERS = "customers"


OF_MONEY = frozenset({CellFigure.REVENUE, CellFigure.REVENUE_PER_CUSTOMER})
# Customers who bought in two weeks are the same ones in part: they have no sum.
ADDED_UP = frozenset(CellFigure) - {CellFigure.CUSTOMERS}
