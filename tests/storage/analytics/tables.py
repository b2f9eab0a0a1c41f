"""An organization's tables in memory, for tests."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import duckdb

from backend.storage.columns.tables.schema import TABLES


@contextmanager
def tables() -> Iterator[duckdb.DuckDBPyConnection]:
    """For the length of the block, tables with nothing in them."""
    name = f"columns_{next(_numbers)}"
    instance = _instance()
    instance.execute(f"ATTACH ':memory:' AS {name}")
    try:
        with instance.cursor() as connection:
            connection.execute(f"USE {name}")
            connection.execute(TABLES)
            yield connection
    finally:
        instance.execute(f"DETACH {name}")


_numbers = itertools.count()


@cache
def _instance() -> duckdb.DuckDBPyConnection:
    """What holds the tables of all tests of this process: to start one takes longer than to make tables."""
    return duckdb.connect(config={"threads": 2})
