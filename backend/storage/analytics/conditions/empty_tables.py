"""The tables that have nothing of a period: what would count it is not even planned."""

# ruff: noqa: S608 - names of tables are constants

from __future__ import annotations

from duckdb import DuckDBPyConnection

from backend.domain.analytics.period import Spans
from backend.domain.analytics.query import TIMES, Field
from backend.storage.analytics.conditions.moment_answers import rows_once
from backend.storage.analytics.conditions.queried_period import QUARTER_MS, QueriedPeriod

_OF_MOMENTS = ("clicks", "tellings", "identities", "installs")
_HAS = 'EXISTS (SELECT 1 FROM {} WHERE "at" >= $start AND "at" < $end)'
_ARE_THERE = f"SELECT {', '.join(map(_HAS.format, _OF_MOMENTS))}, EXISTS (SELECT 1 FROM costs)"


def empty_tables(connection: DuckDBPyConnection, spans: Spans) -> frozenset[str]:
    """The tables without any row of these spans; `costs` where it has none at all."""
    values = {"start": spans.first * QUARTER_MS, "end": spans.end * QUARTER_MS}
    [are_there] = rows_once(connection, _ARE_THERE, values)
    tables = zip((*_OF_MOMENTS, "costs"), are_there, strict=True)
    return frozenset(table for table, is_there in tables if not is_there)


def nothing_of(period: QueriedPeriod, columns: dict[str, str]) -> str:
    """A SELECT of these columns, each with its type, as of facts that are not there: no group has any."""
    numbers = {*TIMES, Field.LINK}
    groups = {
        name: "INTEGER" if field in numbers else "VARCHAR"
        for field, name in zip(period.group_by, period.columns, strict=True)
    }
    apart = {"apart": "VARCHAR"} if groups and period.query.has_kinds else {}
    nulls = ", ".join(f"NULL::{kind} AS {name}" for name, kind in (groups | apart | columns).items())
    return f"SELECT {nulls} {'WHERE false' if groups else ''}"
