"""How changes of figures are written on pages."""

from __future__ import annotations

from decimal import Decimal

import pytest

from backend.dashboard.analytics.figures import plotted, shown_change
from backend.domain.analytics.answer import Row, Value
from backend.domain.analytics.measures import Measure


@pytest.mark.parametrize(
    ("now", "before", "text"),
    [(484, 1, "+483"), (1001, 1000, "+1"), (999, 1000, "−1"), (1010, 1000, "1 %"), (5, 5, "=")],
)
def test_a_percentage_says_something(now: int, before: int, text: str) -> None:
    """Neither 48,300 % of one click nor 0 % of a thousand: there the difference stands."""
    change = shown_change(Measure.CLICKS, Row((), {Measure.CLICKS: now}, {Measure.CLICKS: before}), "EUR")
    assert change
    assert change.text == text


@pytest.mark.parametrize(
    ("measure", "value", "drawn"),
    [
        (Measure.RETURN_ON_AD_SPEND, None, None),
        (Measure.RETURN_ON_AD_SPEND, {"USD": 2.5}, None),
        (Measure.RETURN_ON_AD_SPEND, {"EUR": 0.0}, 0.0),
        (Measure.COST, {}, None),
        (Measure.COST_PER_CONVERSION, {"EUR": Decimal("4.20")}, Decimal("4.20")),
        (Measure.CONVERSION_RATE, None, None),
        (Measure.CONVERSION_RATE, 0.0, 0.0),
        (Measure.CONVERSION_RATE, 0.0667, 6.67),
        (Measure.REVENUE, {"USD": Decimal(3)}, 0),
        (Measure.CLICKS, 0, 0),
    ],
)
def test_a_chart_draws_what_is_known(measure: Measure, value: Value, drawn: float | Decimal | None) -> None:
    """What is not known is no 0: a cost that nobody told, a rate without clicks."""
    assert plotted(measure, {measure: value}, "EUR") == drawn
