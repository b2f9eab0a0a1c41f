"""The most frequent values of properties of events, which have rows; all others become one row."""

# ruff: noqa: S608 - names of columns and tables are made here, and values are parameters

from __future__ import annotations

from collections.abc import Sequence

from duckdb import DuckDBPyConnection

from backend.domain.analytics.answer import RowKind
from backend.domain.analytics.event_properties import MOST_VALUES, EventProperty
from backend.storage.analytics.conditions.queried_period import QueriedPeriod

_MOST_VALUES = MOST_VALUES  # tests have fewer


def fold_rare_values(
    connection: DuckDBPyConnection, now: QueriedPeriod, periods: Sequence[QueriedPeriod]
) -> None:
    """Put events with other values than the most frequent ones into a row of their own.

    `now` is the period that is asked for. `periods` are that one, and the one that it is compared with, as
    far as they have sales, which are kept. Of several properties, their values together are counted. Events
    without any value have their row, however few they are.
    """
    columns = [
        f"by_{name}"
        for field, name in zip(now.group_by, now.columns, strict=True)
        if isinstance(field, EventProperty)
    ]
    if not columns:
        return
    named = ", ".join(columns)
    has_value = f"(coalesce({named}) IS NOT NULL)"
    told = " UNION ALL ".join(
        f"SELECT {named}, weight / whole AS part, {period is now} AS is_now FROM {period.sold} "
        f"WHERE what = 'event' AND {has_value}"
        for period in periods
    )
    order = [f"round(sum(part) FILTER (WHERE {which}), 6) DESC NULLS LAST" for which in ("is_now", "true")]
    connection.execute(f"""
        CREATE OR REPLACE TEMP TABLE frequent_values AS
        SELECT {named} FROM ({told}) GROUP BY ALL
        ORDER BY {", ".join([*order, *(f"{column} NULLS FIRST" for column in columns)])} LIMIT {_MOST_VALUES}
    """)
    for period in periods:
        is_same = " AND ".join(
            f"frequent.{column} IS NOT DISTINCT FROM {period.sold}.{column}" for column in columns
        )
        connection.execute(f"""
            UPDATE {period.sold} SET {", ".join(f"{column} = NULL" for column in columns)},
                apart = '{RowKind.OTHER_VALUES}'
            WHERE what = 'event' AND {has_value}
                AND NOT EXISTS (SELECT 1 FROM frequent_values AS frequent WHERE {is_same})
        """)
