"""Rows of DuckDB as Parquet files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # those who ask have no use for DuckDB, which takes memory
    from duckdb import DuckDBPyConnection


def write_parquet(connection: DuckDBPyConnection, rows: str, values: Mapping[str, object], path: Path) -> int:
    """Write what this SELECT gives, in its order, into a file. Returns how many rows that are.

    Raises duckdb.Error; then what is at `path` is not a whole file.
    """
    to = str(path).replace("'", "''")
    copied = connection.execute(
        f"COPY ({rows}) TO '{to}' (FORMAT parquet, COMPRESSION zstd)",
        dict(values),
    ).fetchone()
    assert copied
    return int(copied[0])
