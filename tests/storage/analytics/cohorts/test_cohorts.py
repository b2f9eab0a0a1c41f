"""Cohorts, the time to a sale and new customers in SQL equal domain/analytics/cohorts for any history."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from duckdb import DuckDBPyConnection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backend.domain.analytics.cohorts import cohorts as domain_cohorts
from backend.domain.analytics.cohorts.cohorts import CohortTable, cohort_rules, cohorts_of
from backend.domain.analytics.cohorts.new_customers import new_and_returning
from backend.domain.analytics.cohorts.parts import CohortCell, CustomersOf, SoldPart, TimeBucket
from backend.domain.analytics.cohorts.sales import CreditedSale
from backend.domain.analytics.cohorts.time_to_sale import EDGES, time_to_sale
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.period import QueryPeriod, WeekStart
from backend.domain.analytics.query import Field, FieldFilters, Prefix, Query
from backend.domain.ids import CustomerId
from backend.domain.sales.credit import share_by_histories
from backend.domain.sales.credit_rules import Model
from backend.domain.sales.histories import History
from backend.domain.visitors.attribution import Touch
from backend.domain.visitors.calls import Kind
from backend.domain.visitors.tellings import Telling
from backend.storage.analytics.cohorts import members
from backend.storage.analytics.cohorts.cohorts import find_cohorts
from backend.storage.analytics.cohorts.customers import find_new_and_returning, find_time_to_sale
from backend.storage.analytics.cohorts.singles import Slice, find_customers, find_sold
from tests.examples import examples
from tests.storage.analytics.credited_histories import (
    HOURS,
    RULES,
    Told,
    at,
    clicked,
    device,
    histories,
    sale,
)
from tests.storage.analytics.tables import tables

# The smallest unit of each currency.
_SMALLEST = {"EUR": Decimal("0.01"), "JPY": Decimal(1)}
OF_PHONES: FieldFilters = {Field.CAMPAIGN: Prefix("phone")}
ONE_TOUCH = RULES.filter(lambda rules: rules.model in {Model.LAST, Model.LAST_NON_DIRECT, Model.FIRST})
PERIODS = st.builds(
    QueryPeriod,
    st.sampled_from([at(-1_000), at(12), at(48)]),
    st.sampled_from([at(60), at(96), at(500)]),
    st.sampled_from([ZoneInfo("UTC"), ZoneInfo("Asia/Kathmandu")]),
    st.sampled_from(WeekStart),
)
QUERIES = st.builds(
    Query,
    period=PERIODS,
    measures=st.just((Measure.CONVERSIONS, Measure.CUSTOMERS)),
    filters=st.sampled_from([{}, {}, OF_PHONES]),
    currency=st.sampled_from([None, "EUR", "USD"]),
)


def told_sales(told: Told, query: Query) -> list[CreditedSale]:
    """The conversions that the query's rules know, each with its one touch."""
    facts = told.facts(query.rules)
    devices = (History.of_device(device, query.rules) for device in told.devices)
    credited = share_by_histories(facts, devices, query.rules)
    return [
        CreditedSale(
            record.call_id,
            sale.at,
            of.customer_id,
            (currency := record.fields_known(query.rules)["currency"]),
            of.amount * _SMALLEST[currency],
            of.refunded * _SMALLEST[currency],
            touched_at(touch, sale.at) if (touch := of.shares[0].touch) else None,
            passes(touch, query),
        )
        for record, sale, of in zip(told.records, facts, credited, strict=True)
        if record.kind is Kind.CONVERSION and of.shares
    ]


def touched_at(touch: Touch, sold_at: datetime) -> datetime:
    """The click's time, or the visit's."""
    return min(touch.click_at or touch.at, sold_at)


def passes(touch: Touch | None, query: Query) -> bool:
    """Links are not stored in these tables, so that a filter leaves only what an ad's address named."""
    if not query.filters:
        return True
    return bool(touch and not touch.link_id and touch.utm["utm_campaign"].startswith("phone"))


@settings(max_examples=examples(3), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_columns_say_what_the_domain_says(data: st.DataObject) -> None:
    """For any history, rules, period, filter and moment."""
    with tables() as connection, pytest.MonkeyPatch.context() as patch:
        # The histories are a week long.
        patch.setattr(domain_cohorts, "WEEK", timedelta(days=1))
        patch.setattr(members, "_WEEK", 24 * 3_600_000)
        told = data.draw(histories())
        told.write(connection)
        for _ in range(3):
            query = replace(data.draw(QUERIES), rules=data.draw(ONE_TOUCH))
            sales = told_sales(told, query)
            period, currency = query.period, query.currency
            assert find_time_to_sale(connection, query) == time_to_sale(sales, period, currency)
            assert find_new_and_returning(connection, query) == new_and_returning(sales, period, currency)
            query = replace(query, rules=cohort_rules(query.rules.as_of))
            weeks, now = data.draw(st.integers(1, 4)), at(data.draw(HOURS) + 100)
            found = find_cohorts(connection, query, weeks, now)
            assert found == cohorts_of(told_sales(told, query), period, weeks, now, currency)
            assert_the_last_cell_has_its_rows(connection, query, found, now)


def assert_the_last_cell_has_its_rows(
    connection: DuckDBPyConnection, query: Query, table: CohortTable, now: datetime
) -> None:
    """The single sales and customers of the last cell are as many as it counts, and come to its amounts."""
    cells = [
        (cohort, number, week.figures)
        for cohort in table.cohorts
        for number, week in enumerate(cohort.weeks)
        if week.figures.conversions
    ]
    for cohort, number, figures in cells[-1:]:
        _, members = find_customers(connection, query, CohortCell(cohort.label), Slice(100), now)
        assert members == cohort.customers
        cell = CohortCell(cohort.label, number)
        sold, total = find_sold(connection, query, cell, Slice(100), now)
        assert (len(sold), total) == (figures.conversions, figures.conversions)
        assert sum(row.amount for row in sold) == sum(figures.revenue.values())
        customers, people = find_customers(connection, query, cell, Slice(100), now)
        assert (len(customers), people) == (figures.customers, figures.customers)
        assert sum(row.conversions for row in customers) == total


def test_kinds_and_times_have_their_rows() -> None:
    """Sales of new, returning and unknown customers, and those of each bucket; pages go on where they end."""
    own = device("phone", clicked(10, at(10), is_named=False))
    customers = [("a", 20, "ada"), ("b", 50, "ada"), ("c", 51, "ada"), ("d", 52, "bob"), ("e", 53, None)]
    bought = [
        sale(name, Telling(at(hour), at(hour), own.id, CustomerId(customer) if customer else None))
        for name, hour, customer in customers
    ]
    told = Told([own], bought, [[] for _ in bought])
    period = QueryPeriod(at(48), at(96), ZoneInfo("UTC"))
    query = Query(period=period, measures=(Measure.CONVERSIONS, Measure.CUSTOMERS))
    with tables() as connection:
        told.write(connection)

        def sold(part: SoldPart) -> list[int]:
            rows, total = find_sold(connection, query, part, Slice(10), at(96))
            assert len(rows) == total
            return [round((row.at - at(0)).total_seconds() / 3600) for row in rows]

        by_kind = find_new_and_returning(connection, query)
        assert sold(CustomersOf.NEW) == [52]
        assert sold(CustomersOf.RETURNING) == [51, 50]
        assert len(sold(CustomersOf.UNKNOWN)) == by_kind.unknown.conversions
        took = find_time_to_sale(connection, query)
        assert [len(sold(TimeBucket(number))) for number in range(len(EDGES))] == took.counts
        assert len(sold(TimeBucket(None))) == took.untouched
        assert sum(took.counts) + took.untouched == 4
        [second], total = find_sold(connection, query, CustomersOf.RETURNING, Slice(1, 1), at(96))
        assert (second.at, second.customer_id, total) == (at(50), "ada", 2)
        [ada], _ = find_customers(connection, query, CustomersOf.RETURNING, Slice(10), at(96))
        assert (ada.customer_id, ada.conversions, ada.last_at) == ("ada", 2, at(51))


def test_the_time_begins_with_the_click_and_the_period_with_its_first_moment() -> None:
    """A visit may come long after its click; who buys first when the period begins is new in it."""
    visit = clicked(30, at(31), is_named=False)
    own = device("phone", visit)
    hours = {"a": 48, "b": 50}
    bought = [
        sale(name, Telling(at(hour), at(hour), own.id, CustomerId("ada"))) for name, hour in hours.items()
    ]
    told = Told([own], bought, [[], []])
    period = QueryPeriod(at(48), at(96), ZoneInfo("UTC"))
    with tables() as connection:
        told.write(connection)
        query = Query(period=period, measures=(Measure.CONVERSIONS, Measure.CUSTOMERS))
        assert find_time_to_sale(connection, query).median == 24 * 3_600_000
        found = find_new_and_returning(connection, query)
        assert (found.new.conversions, found.returning.conversions) == (2, 0)
        later = replace(query, period=QueryPeriod(at(49), at(96), ZoneInfo("UTC")))
        assert find_new_and_returning(connection, later).returning.conversions == 1
