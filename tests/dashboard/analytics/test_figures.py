"""How changes of figures are written on pages."""

from __future__ import annotations

import pytest

from backend.dashboard.analytics.figures import shown_change
from backend.domain.analytics.answer import Row
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
