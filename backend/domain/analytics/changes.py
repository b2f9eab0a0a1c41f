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
from backend.domain.analytics.measures import ByCurrency, Measure, MeasureKind, Shown

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
    value, was = (shown_in(measure, values[measure], currency) for values in (now, before))
    if value is None or was is None:
        return None
    exact = Fraction(value) - Fraction(was)
    difference: Numeric = round(float(exact), RATE_DIGITS)
    if isinstance(value, Decimal) or isinstance(was, Decimal):
        difference = Decimal(value) - Decimal(was)
    elif exact == int(exact):
        difference = int(exact)
    base = _base(measure, before)
    is_enough = base is None or float(in_currency(base, currency) or 0) >= LEAST_BASE
    return MeasureChange(was, difference, _percent(difference, was) if is_enough else None)


def shown_in(shown: Shown, value: Value, currency: str) -> Numeric | None:
    """The value as a plain number, as `in_currency`; of costs None where none was told, which is not 0."""
    if isinstance(shown, Measure) and shown.kind is MeasureKind.COSTS and isinstance(value, Mapping):
        return value.get(currency)
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


def _base(measure: Measure, before: Values) -> Value:
    """What the number before rests on: itself, if it is a count, else the clicks or sales behind it.

    None where that is not told, and for a cost: what was spent is no sample.
    """
    if measure in {Measure.COST, Measure.COST_PER_CLICK}:
        return before.get(Measure.CLICKS) if measure is Measure.COST_PER_CLICK else None
    if not (measure.is_money or measure.is_rate):
        return before[measure]
    by_currency = before.get(ByCurrency.CONVERSIONS) if measure.is_money else None
    return by_currency if isinstance(by_currency, Mapping) else before.get(Measure.CONVERSIONS)
