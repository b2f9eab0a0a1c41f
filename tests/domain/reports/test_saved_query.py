"""The query of a report: what can be saved, and what is left of it without amounts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from backend.domain.analytics.query import MONEY, Measure, Order
from backend.domain.errors import FieldError, InvalidField
from backend.domain.reports.saved_query import MOST_ROWS, SavedQuery, read_query

NOW = datetime(2026, 3, 10, 12, 0, tzinfo=UTC)


def saved(**query: Any) -> dict[str, Any]:
    """The query as it is saved."""
    return SavedQuery().parse("query", query)


def test_a_moving_period_moves() -> None:
    """The same saved query is about another time a day later."""
    query = saved(period="yesterday", compare=None)
    assert query == {"period": "yesterday"}
    today = read_query(query, NOW, shows_revenue=False)
    tomorrow = read_query(query, NOW + timedelta(days=1), shows_revenue=False)
    assert tomorrow.period.start - today.period.start == timedelta(days=1)
    assert today.limit == MOST_ROWS


def test_every_error_is_one_of_the_query() -> None:
    """The names of all wrong fields begin with that of the query."""
    with pytest.raises(FieldError) as caught:
        read_query(saved(measures=["euros"], limt=5), NOW, shows_revenue=True)
    assert [error.field for error in (caught.value, *caught.value.others)] == ["query.limt", "query.measures"]


@pytest.mark.parametrize(
    ("query", "rule"),
    [
        ({"cursor": None}, "query.cursor is not a field of a report"),
        ({"limit": MOST_ROWS + 1}, "query.limit must be a whole number from 1 to 1000"),
        ({"filters": {"campaign": ["x" * 40_000]}}, "query must have at most 32768 bytes as JSON"),
        ({"filters": {"$where": ["x"]}}, r"query must not have names that begin with \$"),
    ],
)
def test_what_can_t_be_saved(query: dict[str, Any], rule: str) -> None:
    """A report has one page, fits into a document, and has names that MongoDB takes for nothing else."""
    with pytest.raises(InvalidField, match=rule):
        saved(**query)


def test_without_revenue_no_amount_is_left() -> None:
    """No measure of money, no change of one, and no order by one, which would tell who brought most."""
    query = saved(
        measures=list(set(Measure) - {Measure.CHANCE_OF_BEST}),
        group_by=["campaign"],
        currency="EUR",
        compare="previous",
        change=True,
        order_by="-change.revenue",
    )
    assert set(read_query(query, NOW, shows_revenue=True).measures) >= MONEY
    shown = read_query(query, NOW, shows_revenue=False)
    assert MONEY.isdisjoint({*shown.measures, *shown.needed, *shown.shown})
    assert shown.sorting.column in shown.measures
    kept = read_query(query | {"order_by": "-change.clicks"}, NOW, shows_revenue=False)
    assert kept.order == Order(Measure.CLICKS, is_descending=True, of_change=True)


def test_nothing_but_amounts_can_t_be_shown_without_revenue() -> None:
    """Then there would be no column."""
    with pytest.raises(InvalidField, match=r"query\.measures must have one that is no amount"):
        read_query(saved(measures=["revenue"]), NOW, shows_revenue=False)
