"""Common tables of the customers of cohorts, over the table `credited_sales`."""

# ruff: noqa: S608 - all text is of this package, and values are parameters

from __future__ import annotations

from backend.domain.analytics.cohorts.cohorts import WEEK
from backend.domain.analytics.period import TimeField
from backend.domain.analytics.query import Field, Query
from backend.storage.analytics.conditions.parameters import SqlParameters
from backend.storage.analytics.conditions.queried_period import QueriedPeriod
from backend.storage.analytics.conditions.times import TimeColumns

_WEEK = round(WEEK.total_seconds() * 1000)
# The first sale of each customer.
FIRSTS = """
    firsts AS (
        SELECT * FROM credited_sales WHERE customer IS NOT NULL
        QUALIFY row_number() OVER (PARTITION BY customer ORDER BY "at", id) = 1
    )
"""


class CohortMembers:
    """Who belongs to which cohort of a query's period: the one of the week of their first touch."""

    def __init__(self, query: Query) -> None:
        self.spans = query.period.spans(TimeField.WEEK)
        self.labels = [span.label or "" for span in self.spans]
        self.period = QueriedPeriod(query, self.spans, (Field.WEEK,), self.labels)

    @property
    def week(self) -> str:
        """How many weeks after the first touch of one of the `members` their sale of `sales` came."""
        return f'(sales."at" - members.touched_at) // {_WEEK}'

    def tables(self, parameters: SqlParameters) -> str:
        """Common tables: `members`, the customers of each cohort, which has the number of its label."""
        start, end = parameters(self.period.start), parameters(self.period.end)
        times = TimeColumns(self.period, "firsts.touched_at", parameters)
        return f"""
            {FIRSTS},
            members AS (
                SELECT customer, touched_at, {times.number} AS part
                FROM (FROM firsts WHERE passes AND touched_at >= {start} AND touched_at < {end}) AS firsts
                {times.join}
            )
        """
