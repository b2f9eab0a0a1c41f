"""The scale of column charts."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis.strategies import integers, lists

from backend.dashboard.links.chart import HEIGHT, WIDTH, column_chart
from backend.domain.analytics import Count

START = datetime(2026, 1, 1, tzinfo=UTC)


@given(lists(integers(0, 10**9), max_size=40))
def test_columns_fit_under_the_scale(counts: list[int]) -> None:
    """No column is higher than the scale or beside the drawing; the scale halves to a whole number and wastes
    less than half of the height."""
    chart = column_chart([Count(START, count) for count in counts], "%H")
    highest = max(counts, default=0)
    assert highest <= chart.top
    assert chart.top % 2 == 0
    assert highest == 0 or chart.top <= 2 * highest
    for column in chart.columns:
        assert 0 <= column.y <= HEIGHT
        assert 0 <= column.height <= HEIGHT
        assert 0 <= column.x <= column.x + column.width <= WIDTH + 0.02
        assert bool(column.height) == bool(column.count)
    assert chart.total == sum(counts)
