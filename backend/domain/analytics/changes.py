"""How much a number changed, as people are told it (decisions, "numbers-on-pages").

A percentage of a small number says nothing: from 1 click to 484 is 48,300 %. So it is told only where the
number before rests on at least `LEAST_BASE` counted things, and up to `MOST_PERCENT`; else the difference is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from backend.domain.analytics.answer import RATE_DIGITS, Value, Values
from backend.domain.analytics.query import COSTS, MONEY, RATES, ByCurrency, Measure

LEAST_BASE = 10
MOST_PERCENT = 999
Numeric = int | float | Decimal


@dataclass(frozen=True, slots=True)
class MeasureChange:
    """What a number was `before`, and how much more or less it is now; `percent` where that is told."""

    before: Numeric
    difference: Numeric
    percent: float | None = None


def change_of(measure: Measure, now: Values, before: Values, currency: str) -> MeasureChange | None:
    """How a measure changed, of an amount what is in this currency. None for a rate without clicks."""
    value, was = (_comparable(measure, values[measure], currency) for values in (now, before))
    if value is None or was is None:
        return None
    exact = Fraction(value) - Fraction(was)
    difference: Numeric = round(float(exact), RATE_DIGITS)
    if isinstance(value, Decimal) or isinstance(was, Decimal):
        difference = Decimal(value) - Decimal(was)
    elif exact == int(exact):
        difference = int(exact)
    return MeasureChange(
        was, difference, _percent(difference, was) if _is_base(measure, before, currency) else None
    )


def _comparable(measure: Measure, value: Value, currency: str) -> Numeric | None:
    """The value in this currency; None for a cost that was not told."""
    if measure in COSTS and isinstance(value, Mapping) and currency not in value:
        return None
    return in_currency(value, currency)


def in_currency(value: Value, currency: str) -> Numeric | None:
    """The value as a plain number: of amounts, the one in this currency."""
    if isinstance(value, Mapping):
        return value.get(currency, Decimal())
    return value


def _percent(difference: Numeric, was: Numeric) -> float | None:
    if not was:
        return None
    percent = 100 * float(difference) / float(was)
    return percent if abs(percent) <= MOST_PERCENT else None


def _is_base(measure: Measure, before: Values, currency: str) -> bool:
    """Whether the number before rests on enough: itself, if it is a count, else the sales behind it."""
    if measure in {Measure.COST, Measure.COST_PER_CLICK}:  # what was spent is no sample
        clicks = before.get(Measure.CLICKS) if measure is Measure.COST_PER_CLICK else None
        return clicks is None or float(in_currency(clicks, currency) or 0) >= LEAST_BASE
    if measure not in MONEY | RATES:
        return float(in_currency(before[measure], currency) or 0) >= LEAST_BASE
    by_currency = before.get(ByCurrency.CONVERSIONS) if measure in MONEY else None
    sales = by_currency if isinstance(by_currency, Mapping) else before.get(Measure.CONVERSIONS)
    return sales is None or float(in_currency(sales, currency) or 0) >= LEAST_BASE
