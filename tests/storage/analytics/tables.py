"""An organization's tables in memory, for tests."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import duckdb

from backend.storage.columns.tables.schema import CLICK_TABLES, TABLES, UPKEEP
from backend.storage.columns.tables.written_columns import WrittenColumns, show_clicks


@contextmanager
def tables() -> Iterator[duckdb.DuckDBPyConnection]:
    """For the length of the block, tables with nothing in them."""
    name = f"columns_{next(_numbers)}"
    instance = _instance()
    instance.execute(f"ATTACH ':memory:' AS {name}")
    try:
        with instance.cursor() as connection:
            connection.execute(f"USE {name}")
            connection.execute(TABLES + UPKEEP)
            show_clicks(connection, attach_days(connection, name))
            yield connection
    finally:
        for catalog in (name, *days_of(name)):
            instance.execute(f"DETACH {catalog}")


def written(connection: duckdb.DuckDBPyConnection) -> WrittenColumns:
    """These tables for whoever writes to them."""
    [(name,)] = connection.execute("SELECT current_database()").fetchall()
    return WrittenColumns(
        connection, f'"{name}"', lambda day: days_of(name)[day % 2], lambda: list(days_of(name))
    )


def attach_days(connection: duckdb.DuckDBPyConnection, name: str) -> tuple[str, str]:
    """Attach two catalogues of clicks, as if they were files: one for each second day."""
    for catalog in days_of(name):
        connection.execute(f"ATTACH ':memory:' AS {catalog}")
        with connection.cursor() as own:
            own.execute(f"USE {catalog}")
            own.execute(CLICK_TABLES + UPKEEP)
    return days_of(name)


def days_of(name: str) -> tuple[str, str]:
    """The catalogues that are attached by `attach_days`."""
    return f'"{name}_0"', f'"{name}_1"'


_numbers = itertools.count()


@cache
def _instance() -> duckdb.DuckDBPyConnection:
    """What holds the tables of all tests of this process: to start one takes longer than to make tables."""
    return duckdb.connect(config={"threads": 2})
