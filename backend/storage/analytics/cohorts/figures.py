"""Adds up rows of sums to what some conversions come to."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from decimal import Decimal
from typing import Any, TypeVar

from backend.domain.analytics.cohorts.sales import SaleFigures

KeyT = TypeVar("KeyT", bound=Hashable)


def figures_by(
    sums: Iterable[tuple[KeyT, tuple[Any, ...]]], customers: Mapping[KeyT, int]
) -> dict[KeyT, SaleFigures]:
    """The figures of each key, from its sums: currency, digits, conversions, revenue and refunds in units."""
    figures: dict[KeyT, SaleFigures] = {}
    for key, (currency, digits, conversions, revenue, refunds) in sums:
        before = figures.get(key, SaleFigures(customers.get(key, 0)))
        figures[key] = SaleFigures(
            before.customers,
            before.conversions + conversions,
            _more(before.revenue, currency, digits, revenue),
            _more(before.refunds, currency, digits, refunds),
        )
    return figures


def _more(amounts: Mapping[str, Decimal], currency: str, digits: int, units: int) -> dict[str, Decimal]:
    more = Decimal(units).scaleb(-digits)
    return {**amounts, currency: amounts.get(currency, Decimal()) + more}
