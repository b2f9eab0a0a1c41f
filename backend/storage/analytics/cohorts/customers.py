"""The time to a sale, and new and returning customers, in SQL, as domain/analytics/cohorts has them."""

# ruff: noqa: S608 - all text is of this package, and values are parameters

from __future__ import annotations

from duckdb import DuckDBPyConnection

from backend.domain.analytics.cohorts.new_customers import NewAndReturning
from backend.domain.analytics.cohorts.parts import CustomersOf
from backend.domain.analytics.cohorts.time_to_sale import EDGES, TimeToSale
from backend.domain.analytics.query import Query
from backend.storage.analytics.cohorts.credited_sales import SUMS, credited_sales, in_currency
from backend.storage.analytics.cohorts.figures import figures_by
from backend.storage.analytics.conditions.parameters import SqlParameters
from backend.storage.analytics.conditions.queried_period import QueriedPeriod


def in_bucket(took: str, number: int) -> str:
    """The condition that a number of milliseconds is in the bucket of the histogram of this number."""
    begin, *end = (round(edge.total_seconds() * 1000) for edge in EDGES[number : number + 2])
    return " AND ".join([f"{took} >= {begin}", *(f"{took} < {edge}" for edge in end)])


def sales_by_kind(period: QueriedPeriod, parameters: SqlParameters) -> str:
    """Common tables over `credited_sales`: `kinds`, the sales of the period by the `kind` of their customer.

    That is one of CustomersOf.
    """
    since = parameters(period.start)
    return f"""
        firsts AS (SELECT customer, min("at") AS first_at FROM credited_sales GROUP BY customer),
        kinds AS (
            SELECT CASE WHEN sales.customer IS NULL THEN '{CustomersOf.UNKNOWN}'
                WHEN first_at >= {since} THEN '{CustomersOf.NEW}' ELSE '{CustomersOf.RETURNING}' END AS kind,
                sales.*
            FROM credited_sales AS sales LEFT JOIN firsts USING (customer)
            WHERE passes AND "at" >= {since} AND {in_currency(period.query, parameters)}
        )
    """


def find_time_to_sale(connection: DuckDBPyConnection, query: Query) -> TimeToSale:
    """How long it took to the conversions of the query's period. Its rules name one touch for each."""
    period = QueriedPeriod.without_groups(connection, query)
    parameters = SqlParameters()
    counts_of_buckets = ", ".join(
        f"count(*) FILTER ({in_bucket('took', number)})" for number in range(len(EDGES))
    )
    text = f"""
        WITH sold AS (
            SELECT "at" - touched_at AS took FROM credited_sales
            WHERE passes AND {in_currency(query, parameters)}
        )
        SELECT count(took), list_sort(list(took) FILTER (took IS NOT NULL))[(5 * count(took) + 9) // 10],
            list_sort(list(took) FILTER (took IS NOT NULL))[(9 * count(took) + 9) // 10],
            count(*) FILTER (took IS NULL), {counts_of_buckets}
        FROM sold
    """
    with credited_sales(connection, period, period.start, period.end, has_customers=False):
        found = connection.execute(text, parameters.values).fetchone()
    assert found
    conversions, median, p90, untouched, *counts = found
    return TimeToSale(conversions, median, p90, counts, untouched)


def find_new_and_returning(connection: DuckDBPyConnection, query: Query) -> NewAndReturning:
    """Who bought in the query's period, for the first time or again."""
    period = QueriedPeriod.without_groups(connection, query)
    parameters = SqlParameters()
    tables = f"WITH {sales_by_kind(period, parameters)}"
    with credited_sales(connection, period, 0, period.end):
        people = connection.execute(
            f"{tables} SELECT kind, count(DISTINCT customer) FROM kinds GROUP BY kind", parameters.values
        ).fetchall()
        sums = connection.execute(f"{tables} SELECT kind, {SUMS} FROM kinds GROUP BY ALL", parameters.values)
        figures = figures_by(((kind, tuple(more)) for kind, *more in sums.fetchall()), dict(people))
    return NewAndReturning(**figures)
