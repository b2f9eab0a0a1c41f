"""Staged rows: rows from Python in a temporary table, from where SQL takes them on.

They go over as one JSON text of columns, which DuckDB reads itself: several times as fast as values one by
one.
"""

# ruff: noqa: S608 - names of tables and columns are constants, and values are parameters

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from duckdb import DuckDBPyConnection

# The names of columns, with their types in SQL; a type in a list stands for lists of it.
Shape = Mapping[str, str | list[str]]
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def stage(connection: DuckDBPyConnection, table: str, shape: Shape, rows: Iterable[Sequence[object]]) -> None:
    """Make the temporary table `table` of these rows, or make it anew."""
    columns = list(zip(*rows, strict=True)) or [()] * len(shape)
    text = json.dumps(dict(zip(shape, columns, strict=True)))
    selected = ", ".join(f'unnest(staged."{name}") AS "{name}"' for name in shape)
    lists = json.dumps({name: [kind] for name, kind in shape.items()})
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE {table} AS "
        f"SELECT {selected} FROM (SELECT from_json_strict($text, '{lists}') AS staged)",
        {"text": text},
    )


def unstage(connection: DuckDBPyConnection, *tables: str) -> None:
    """Drop these temporary tables, which nobody needs any more."""
    for table in tables:
        connection.execute(f"DROP TABLE IF EXISTS temp.{table}")


def looked_up(values: str, positions: str) -> str:
    """SQL of a row for each of these positions, which begin at 0: the value of the list that is there.

    Both are SQL for lists. Looked up row by row, each row would carry the whole list of values, which takes
    memory by the square of their number.
    """
    return f"unnest(list_select({values}, list_transform({positions}, lambda position: position + 1)))"


def milliseconds(at: datetime) -> int:
    """The time as the tables have it."""
    return (at - EPOCH) // _MILLISECOND


def milliseconds_or_none(at: datetime | None) -> int | None:
    """The time as the tables have it; None where there is none."""
    return None if at is None else (at - EPOCH) // _MILLISECOND
