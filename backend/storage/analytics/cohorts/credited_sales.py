"""A table of conversions, each with the one touch that it is credited to, and whether filters leave it in."""

# ruff: noqa: S608 - all text is of this package, and values are parameters

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from duckdb import DuckDBPyConnection

from backend.domain.analytics.query import Query
from backend.domain.visitors.calls import Kind
from backend.storage.analytics.conditions.links import matching_links
from backend.storage.analytics.conditions.parameters import SqlParameters
from backend.storage.analytics.conditions.queried_period import QueriedPeriod
from backend.storage.analytics.conditions.reach import is_reached
from backend.storage.analytics.credit.credit import credited
from backend.storage.analytics.credit.tables import forget_credit
from backend.storage.analytics.measures.sales import JOIN_EARNING, conditions_of_shares
from backend.storage.analytics.measures.shares import Shares, earning_of

# What some conversions come to, by currency, as figures_by reads it.
SUMS = "currency, digits, count(*), sum(amount)::HUGEINT, sum(refunded)::HUGEINT"


@contextmanager
def credited_sales(
    connection: DuckDBPyConnection, period: QueriedPeriod, start: int, end: int, *, has_customers: bool = True
) -> Iterator[None]:
    """For the length of the block, the temporary table `credited_sales`.

    It has the conversions from `start` until before `end`, in milliseconds since 1970, as
    domain/analytics/cohorts/sales.CreditedSale. The rules of the period's query credit each to one touch. For
    a query with a reach, there are no other sales than those that links within it get: customers, and what is
    their first sale, are known by these alone.
    """
    parameters, query = SqlParameters(), period.query
    shares = credited(connection, query.rules, start, end, (Kind.CONVERSION,), has_customers=has_customers)
    taken = Shares(parameters.take(shares))
    earning = f"earning AS ({earning_of(connection, taken)})," if query.click_fields else ""
    links = matching_links(period, parameters)
    connection.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE credited_sales AS
        WITH shares AS ({taken.text}), {earning} matching_links AS ({links})
        SELECT records.id, shares."at", customer, shares.currency, shares.digits, shares.amount, refunded,
            CASE WHEN has_touch THEN least(coalesce(click_at, touched_at), shares."at") END AS touched_at,
            coalesce({" AND ".join(conditions_of_shares(period, parameters))}, false) AS passes
        FROM shares JOIN records USING (record)
        LEFT JOIN matching_links AS links ON links.link = shares.link {JOIN_EARNING if earning else ""}
        WHERE {_is_reached(query, parameters)}
        """,
        parameters.values,
    )
    forget_credit(connection)
    try:
        yield
    finally:
        connection.execute("DROP TABLE temp.credited_sales")


def _is_reached(query: Query, parameters: SqlParameters) -> str:
    """The condition that a share is of a link within the query's reach."""
    if query.reach is None:
        return "true"
    return f"shares.link IN (SELECT link FROM links WHERE is_kept AND {is_reached(query.reach, parameters)})"


def in_currency(query: Query, parameters: SqlParameters) -> str:
    """The condition that a conversion is in the query's currency, if it has one."""
    return "true" if query.currency is None else f"currency = {parameters(query.currency)}"
