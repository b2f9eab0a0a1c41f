"""The single sales and customers that a number of customers over time counts, in SQL."""

# ruff: noqa: S608 - all text is of this package, and values are parameters

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from duckdb import DuckDBPyConnection

from backend.domain.analytics.cohorts.cohorts import cohort_rules
from backend.domain.analytics.cohorts.parts import (
    CohortCell,
    CustomerRow,
    CustomersOf,
    SoldPart,
    SoldRow,
    TimeBucket,
)
from backend.domain.analytics.query import Query
from backend.domain.clicks.block import moment
from backend.domain.fields.money import of_units
from backend.domain.ids import CustomerId
from backend.storage.analytics.cohorts.credited_sales import credited_sales, in_currency
from backend.storage.analytics.cohorts.customers import in_bucket, sales_by_kind
from backend.storage.analytics.cohorts.members import CohortMembers
from backend.storage.analytics.conditions.parameters import SqlParameters
from backend.storage.analytics.conditions.queried_period import QueriedPeriod

_SALES = """
    SELECT count(*) OVER (), sold."at", told.transaction_id, sold.customer, sold.currency, sold.digits,
        sold.amount, sold.refunded, sold.touched_at
    FROM sold LEFT JOIN (SELECT id, transaction_id FROM records WHERE kind = 'conversion') AS told USING (id)
    ORDER BY sold."at" DESC, sold.id DESC LIMIT $most OFFSET $skipped
"""
_CUSTOMERS = """
    SELECT count(*) OVER (), customer, sum(conversions)::BIGINT,
        list(struct_pack(currency := currency, digits := digits, amount := amount) ORDER BY currency),
        min(first_at), max(last_at) AS last_at, min(touched_at)
    FROM (
        SELECT customer, currency, digits, count(*) AS conversions, sum(amount)::HUGEINT AS amount,
            min("at") AS first_at, max("at") AS last_at, min(touched_at) AS touched_at
        FROM sold WHERE customer IS NOT NULL GROUP BY ALL
    )
    GROUP BY customer ORDER BY last_at DESC, customer LIMIT $most OFFSET $skipped
"""


@dataclass(frozen=True, slots=True)
class Slice:
    """At most `most` rows, behind `skipped` ones."""

    most: int
    skipped: int = 0


def find_sold(
    connection: DuckDBPyConnection, query: Query, part: SoldPart, rows: Slice, now: datetime
) -> tuple[list[SoldRow], int]:
    """The sales of the part, the newest first, and how many there are in all."""
    found = _Reading(connection, query, part, now).rows(_SALES, rows)
    return [_sale(*row[1:]) for row in found], found[0][0] if found else 0


def find_customers(
    connection: DuckDBPyConnection, query: Query, part: SoldPart, rows: Slice, now: datetime
) -> tuple[list[CustomerRow], int]:
    """The customers of the part, who bought last first, and how many there are in all."""
    found = _Reading(connection, query, part, now).rows(_CUSTOMERS, rows)
    return [_customer(*row[1:]) for row in found], found[0][0] if found else 0


class _Reading:
    """The sales of a part while they are read."""

    def __init__(self, connection: DuckDBPyConnection, query: Query, part: SoldPart, now: datetime) -> None:
        self._connection = connection
        self._part = part
        self._query = replace(query, rules=cohort_rules(query.rules.as_of)) if _is_cell(part) else query
        self._period = QueriedPeriod.without_groups(connection, self._query)
        self._now = round(now.timestamp() * 1000)

    def rows(self, select: str, rows: Slice) -> Sequence[tuple[Any, ...]]:
        """The rows of this SELECT from the common table `sold`."""
        parameters = SqlParameters()
        start, end = 0, self._period.end
        match self._part:
            case CohortCell():
                tables, end = self._cell(self._part, parameters), self._now
            case CustomersOf():
                tables = self._kind(self._part, parameters)
            case TimeBucket():
                tables, start = self._bucket(self._part, parameters), self._period.start
        values = {**parameters.values, "most": rows.most, "skipped": rows.skipped}
        with credited_sales(self._connection, self._period, start, end):
            return self._connection.execute(f"WITH {tables} {select}", values).fetchall()

    def _cell(self, cell: CohortCell, parameters: SqlParameters) -> str:
        members = CohortMembers(self._query)
        number = members.labels.index(cell.label) if cell.label in members.labels else -1
        conditions = [f"part = {parameters(number)}"]
        if cell.week is not None:
            conditions += [f"{members.week} {'<=' if cell.is_summed else '='} {parameters(cell.week)}"]
            conditions += [in_currency(self._query, parameters)]
        return f"""
            {members.tables(parameters)},
            sold AS (
                SELECT sales.* REPLACE (members.touched_at AS touched_at)
                FROM members JOIN credited_sales AS sales USING (customer) WHERE {" AND ".join(conditions)}
            )
        """

    def _kind(self, kind: CustomersOf, parameters: SqlParameters) -> str:
        kinds = sales_by_kind(self._period, parameters)
        return f"{kinds}, sold AS (FROM kinds WHERE kind = {parameters(kind.value)})"

    def _bucket(self, bucket: TimeBucket, parameters: SqlParameters) -> str:
        is_in = "touched_at IS NULL"
        if bucket.number is not None:
            is_in = in_bucket('("at" - touched_at)', bucket.number)
        conditions = f"passes AND {in_currency(self._query, parameters)} AND {is_in}"
        return f"sold AS (FROM credited_sales WHERE {conditions})"


def _is_cell(part: SoldPart) -> bool:
    return isinstance(part, CohortCell)


def _sale(  # noqa: PLR0917 - the columns of `_SALES`
    at: int, transaction_id: str | None, customer: CustomerId | None, currency: str, digits: int,
    amount: int, refunded: int, touched_at: int | None,
) -> SoldRow:  # fmt: skip
    return SoldRow(
        moment(at), transaction_id, customer, currency, of_units(amount, digits), of_units(refunded, digits),
        None if touched_at is None else moment(touched_at),
    )  # fmt: skip


def _customer(  # noqa: PLR0917 - the columns of `_CUSTOMERS`
    customer: CustomerId, conversions: int, amounts: list[dict[str, Any]], first_at: int, last_at: int,
    touched_at: int | None,
) -> CustomerRow:  # fmt: skip
    revenue: dict[str, Decimal] = {}
    for sold in amounts:
        currency = sold["currency"]
        revenue[currency] = revenue.get(currency, Decimal()) + of_units(sold["amount"], sold["digits"])
    touched = None if touched_at is None else moment(touched_at)
    return CustomerRow(customer, conversions, revenue, moment(first_at), moment(last_at), touched)
