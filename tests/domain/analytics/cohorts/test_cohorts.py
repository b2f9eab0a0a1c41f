"""Cohorts, the time to a sale, and new and returning customers, by examples."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from backend.domain.analytics.cohorts.cohorts import cohorts_of
from backend.domain.analytics.cohorts.input import parse_cohorts, parse_customers
from backend.domain.analytics.cohorts.new_customers import new_and_returning
from backend.domain.analytics.cohorts.sales import CreditedSale
from backend.domain.analytics.cohorts.time_to_sale import EDGES, time_to_sale
from backend.domain.analytics.input import UTC_ZONE
from backend.domain.analytics.period import QueryPeriod
from backend.domain.errors import FieldError
from backend.domain.ids import CallId, CustomerId

MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
DAY = timedelta(days=1)
PERIOD = QueryPeriod(MONDAY, MONDAY + 14 * DAY, UTC_ZONE)
NOW = MONDAY + 16 * DAY


def sale(
    customer: str | None, day: float, touched: float | None = None, euros: int = 10, currency: str = "EUR"
) -> CreditedSale:
    """A conversion so many days after the Monday, and its touch."""
    return CreditedSale(
        CallId(f"{customer}-{day:06.2f}"),
        MONDAY + day * DAY,
        CustomerId(customer) if customer else None,
        currency,
        Decimal(euros),
        Decimal(),
        None if touched is None else MONDAY + touched * DAY,
    )


def test_customers_by_the_week_of_their_first_touch() -> None:
    """What they bought is counted by weeks since their own first touch, of which some are not over."""
    sales = [
        sale("ada", 1, touched=0),
        sale("ada", 6.9, touched=0),
        sale("ada", 9, touched=0, euros=5),
        sale("bob", 6.5, touched=6, currency="USD"),
        sale("cleo", 8, touched=7.5),
        sale("cleo", 17, touched=7.5),  # after now
        sale("dan", 3),
        sale(None, 3),
    ]
    table = cohorts_of(sales, PERIOD, 4, NOW)
    first, second = table.cohorts
    assert (first.label, first.customers, second.label, second.customers) == (
        "2026-03-02", 2, "2026-03-09", 1,
    )  # fmt: skip
    figures = [(week.figures.customers, week.figures.conversions, week.is_partial) for week in first.weeks]
    assert figures == [(2, 3, False), (1, 1, True), (0, 0, True)]
    assert first.weeks[0].figures.revenue == {"EUR": 20, "USD": 10}
    assert first.weeks[1].figures.revenue == {"EUR": 5}
    assert [week.is_partial for week in second.weeks] == [True, True]
    assert (first.is_partial, second.is_partial) == (False, False)
    assert (table.touchless, table.unknown, table.currencies) == (1, 1, ["EUR", "USD"])
    in_dollars = cohorts_of(sales, PERIOD, 4, NOW, "USD").cohorts[0]
    assert (in_dollars.customers, in_dollars.weeks[0].figures.conversions) == (2, 1)


def test_how_long_it_took() -> None:
    """The median and the 90th percentile are times that a sale took; buckets begin at their edges."""
    took = [0, 0.5, 1, 2, 3, 3, 8, 8, 20, 100]
    sales = [sale(str(number), 10, touched=10 - days) for number, days in enumerate(took)]
    found = time_to_sale([*sales, sale("none", 10), sale("late", 15, touched=1)], PERIOD)
    day = 24 * 3_600_000
    assert (found.conversions, found.untouched) == (10, 1)
    assert (found.median, found.p90) == (3 * day, 20 * day)
    by_edge = dict(zip((edge / DAY for edge in EDGES), found.counts, strict=True))
    assert {edge: count for edge, count in by_edge.items() if count} == {
        0: 1, 0.25: 1, 1: 2, 3: 2, 7: 2, 14: 1, 90: 1,
    }  # fmt: skip
    nothing = time_to_sale([], PERIOD)
    assert (nothing.median, nothing.p90, sum(nothing.counts)) == (None, None, 0)


def test_who_bought_for_the_first_time() -> None:
    """All that new customers buy in the period is theirs, whatever the filters leave of their first sale."""
    sales = [
        sale("ada", -3),
        sale("ada", 2),
        sale("bob", 1, euros=7)._replace(passes=False),
        sale("bob", 5, euros=8),
        sale(None, 3, euros=1),
        sale("cleo", 14),
    ]
    found = new_and_returning(sales, PERIOD)
    assert (found.returning.customers, found.returning.conversions) == (1, 1)
    assert found.returning.revenue == {"EUR": 10}
    assert (found.new.customers, found.new.conversions) == (1, 1)
    assert found.new.revenue == {"EUR": 8}
    assert (found.unknown.customers, found.unknown.conversions) == (0, 1)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"weeks": 54}, "weeks"),
        ({"weeks": 0}, "weeks"),
        ({"from": "2020-01-01"}, "from"),
        ({"model": "last"}, "model"),
        ({"filters": {"event": ["x"]}}, "filters.event"),
        ({"measures": ["clicks"]}, "measures"),
    ],
)
def test_what_cohorts_can_t_be_asked(body: dict[str, object], field: str) -> None:
    """The first touch is always that of the customer, and tables are bounded."""
    with pytest.raises(FieldError) as caught:
        parse_cohorts(body, NOW)
    assert caught.value.field == field


def test_each_error_is_told_once() -> None:
    """The errors of several fields come together."""
    with pytest.raises(FieldError) as caught:
        parse_cohorts({"nope": 1, "timezone": "x", "as_of": "x", "weeks": 99}, NOW)
    told = [error.field for error in (caught.value, *caught.value.others)]
    assert told == ["nope", "timezone", "as_of", "weeks"]


def test_the_time_to_a_sale_needs_one_touch() -> None:
    """Models that divide a sale are refused."""
    assert parse_customers({"model": "first", "credit": "customer"}, NOW).rules.model == "first"
    with pytest.raises(FieldError, match="model must be one of last_non_direct, last, first"):
        parse_customers({"model": "linear"}, NOW)
