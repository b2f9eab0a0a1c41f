"""Fixtures for tests of facts in columns."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from duckdb import DuckDBPyConnection

from tests.storage.analytics.tables import tables


@pytest.fixture
def columns() -> Iterator[DuckDBPyConnection]:
    """An organization's tables, in memory, with nothing in them."""
    with tables() as connection:
        yield connection
