"""Cohorts in SQL, as domain/analytics/cohorts/cohorts has them."""

# ruff: noqa: S608 - all text is of this package, and values are parameters

from __future__ import annotations

from datetime import datetime

from duckdb import DuckDBPyConnection

from backend.domain.analytics.cohorts.cohorts import Cohort, CohortTable, CohortWeek, begun_weeks
from backend.domain.analytics.cohorts.sales import SaleFigures
from backend.domain.analytics.period import TimeField
from backend.domain.analytics.query import Query
from backend.storage.analytics.cohorts.credited_sales import SUMS, credited_sales, in_currency
from backend.storage.analytics.cohorts.figures import figures_by
from backend.storage.analytics.cohorts.members import FIRSTS, CohortMembers
from backend.storage.analytics.conditions.parameters import SqlParameters
from backend.storage.analytics.conditions.queried_period import QueriedPeriod

# A cohort, and the number of a week after the first touch.
_Cell = tuple[int, int]


def find_cohorts(connection: DuckDBPyConnection, query: Query, weeks: int, now: datetime) -> CohortTable:
    """The cohorts of the query's period, by conversions until `now`. The query has `cohort_rules`."""
    period = QueriedPeriod.without_groups(connection, query)
    with credited_sales(connection, period, 0, round(now.timestamp() * 1000)):
        return _Reading(connection, query).table(weeks, now)


class _Reading:
    """The table `credited_sales` while it is read."""

    def __init__(self, connection: DuckDBPyConnection, query: Query) -> None:
        self._connection = connection
        self._query = query
        self._members = CohortMembers(query)

    def table(self, weeks: int, now: datetime) -> CohortTable:
        """The cohorts."""
        sizes, cells = self._sizes(), self._cells(weeks)
        partial = set(self._query.period.partial_labels(TimeField.WEEK, now))
        touchless, unknown = self._apart()
        cohorts = [
            Cohort(
                label,
                sizes.get(number, 0),
                [
                    CohortWeek(cells.get((number, week), SaleFigures()), is_partial=not is_over)
                    for week, is_over in enumerate(begun_weeks(span, weeks, now))
                ],
                label in partial,
            )
            for number, (label, span) in enumerate(
                zip(self._members.labels, self._members.spans, strict=True)
            )
        ]
        shown = [week.figures for cohort in cohorts for week in cohort.weeks]
        currencies = sorted({name for figures in shown for name in figures.revenue})
        return CohortTable(cohorts, touchless, unknown, currencies)

    def _sizes(self) -> dict[int, int]:
        parameters = SqlParameters()
        text = f"WITH {self._members.tables(parameters)} SELECT part, count(*) FROM members GROUP BY part"
        return dict(self._connection.execute(text, parameters.values).fetchall())

    def _cells(self, weeks: int) -> dict[_Cell, SaleFigures]:
        parameters = SqlParameters()
        bought = f"""
            bought AS (
                SELECT part, {self._members.week} AS week, customer,
                    currency, digits, amount, refunded
                FROM members JOIN credited_sales AS sales USING (customer)
                WHERE {in_currency(self._query, parameters)}
            )
        """
        tables = f"WITH {self._members.tables(parameters)}, {bought}"
        of_weeks = f"FROM bought WHERE week < {parameters(weeks)} GROUP BY ALL"
        people = self._connection.execute(
            f"{tables} SELECT part, week, count(DISTINCT customer) {of_weeks}", parameters.values
        ).fetchall()
        sums = self._connection.execute(f"{tables} SELECT part, week, {SUMS} {of_weeks}", parameters.values)
        return figures_by(
            (((part, week), tuple(more)) for part, week, *more in sums.fetchall()),
            {(part, week): count for part, week, count in people},
        )

    def _apart(self) -> tuple[int, int]:
        """Who bought first without a touch, and how many conversions are nobody's."""
        in_period = '"at" >= $start AND "at" < $end'
        found = self._connection.execute(
            f"""
            WITH {FIRSTS} SELECT
                (SELECT count(*) FROM firsts WHERE touched_at IS NULL AND passes AND {in_period}),
                (SELECT count(*) FROM credited_sales WHERE customer IS NULL AND {in_period})
            """,
            {"start": self._members.period.start, "end": self._members.period.end},
        ).fetchone()
        assert found
        return found[0], found[1]
