"""What stands in Parquet files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb


def asked(folder: Path, question: str) -> list[tuple[Any, ...]]:
    """What DuckDB says of the files below the folder, as their table `events`."""
    events = f"read_parquet('{folder}/**/*.parquet', hive_partitioning = true, union_by_name = true)"
    with duckdb.connect() as connection:
        return connection.execute(question.replace("events", events)).fetchall()


def ids(folder: Path) -> list[str]:
    """The ids of all events, in the feed's order."""
    return [event_id for (event_id,) in asked(folder, 'SELECT id FROM events ORDER BY place, "index"')]
