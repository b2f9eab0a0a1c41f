"""How much a number changed, as people are told it."""

from __future__ import annotations

from decimal import Decimal

import pytest

from backend.domain.analytics.answer import Values
from backend.domain.analytics.changes import MeasureChange, change_of
from backend.domain.analytics.measures import ByCurrency, Measure


@pytest.mark.parametrize(
    ("now", "before", "change"),
    [
        (484, 1, MeasureChange(1, 483)),
        (12, 9, MeasureChange(9, 3)),
        (12, 10, MeasureChange(10, 2, 20.0)),
        (0, 10, MeasureChange(10, -10, -100.0)),
        (110, 10, MeasureChange(10, 100)),
        (3, 0, MeasureChange(0, 3)),
        (10.5, 10, MeasureChange(10, 0.5, 5.0)),
    ],
)
def test_a_percentage_needs_a_base(now: float, before: float, change: MeasureChange) -> None:
    """From ten on and up to 999 %; else the difference is told by itself."""
    assert change_of(Measure.CLICKS, {Measure.CLICKS: now}, {Measure.CLICKS: before}, "EUR") == change


def test_amounts_and_rates_rest_on_their_sales() -> None:
    """A large amount of one sale is no base, nor is a rate of few; each currency has its own sales."""
    before: Values = {
        Measure.REVENUE: {"EUR": Decimal("5000.00"), "USD": Decimal(90)},
        Measure.CONVERSIONS: 13,
        ByCurrency.CONVERSIONS: {"EUR": 3, "USD": 10},
        Measure.CONVERSION_RATE: 0.5,
    }
    now: Values = {
        **before,
        Measure.REVENUE: {"EUR": Decimal("6000.00"), "USD": Decimal(99)},
        Measure.CONVERSION_RATE: 0.6,
    }
    assert change_of(Measure.REVENUE, now, before, "EUR") == MeasureChange(Decimal(5000), Decimal(1000))
    assert change_of(Measure.REVENUE, now, before, "USD") == MeasureChange(Decimal(90), Decimal(9), 10.0)
    assert change_of(Measure.CONVERSION_RATE, now, before, "EUR") == MeasureChange(0.5, 0.1, 20.0)
    few: Values = {**before, Measure.CONVERSIONS: 9}
    assert change_of(Measure.CONVERSION_RATE, now, few, "EUR") == MeasureChange(0.5, 0.1)
    assert change_of(Measure.CONVERSION_RATE, now, {Measure.CONVERSION_RATE: None}, "EUR") is None
