"""An organization's tables in memory, for tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import duckdb

from backend.storage.analytics.schema import FORMAT, TABLES


@contextmanager
def tables() -> Iterator[duckdb.DuckDBPyConnection]:
    """For the length of the block, tables with nothing in them."""
    with duckdb.connect(config={"threads": 2}) as connection:
        connection.execute(TABLES)
        connection.execute("INSERT INTO state VALUES ($1, 0, false, false)", [FORMAT])
        yield connection
