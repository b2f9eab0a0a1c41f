"""The rows of a Parquet file, beside those of a CSV file that says the same."""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb


@dataclass(frozen=True)
class ParquetRows:
    """What DuckDB reads of a file: the type of each column, rows in their order, and how many row groups.

    Times are texts in UTC, to the millisecond.
    """

    types: dict[str, str]
    rows: list[tuple[Any, ...]]
    row_groups: int


def read(content: bytes) -> ParquetRows:
    """Read the bytes of a Parquet file."""
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
        path = Path(folder, "file.parquet")
        path.write_bytes(content)
        described = connection.execute("DESCRIBE FROM read_parquet($1)", [str(path)]).fetchall()
        types = {name: kind for name, kind, *_ in described}
        columns = ", ".join(map(_shown, types, types.values()))
        rows = connection.execute(f"SELECT {columns} FROM read_parquet($1)", [str(path)]).fetchall()
        [(groups,)] = connection.execute(
            "SELECT count(DISTINCT row_group_id) FROM parquet_metadata($1)", [str(path)]
        ).fetchall()
    return ParquetRows(types, rows, groups)


def count(content: bytes) -> int:
    """How many rows the bytes of a Parquet file hold."""
    with tempfile.NamedTemporaryFile() as file, duckdb.connect() as connection:
        file.write(content)
        file.flush()
        [(rows,)] = connection.execute("SELECT count(*) FROM read_parquet($1)", [file.name]).fetchall()
    return int(rows)


def _shown(name: str, kind: str) -> str:
    """A column; the client of DuckDB gives times in a zone only beside a package that we don't have."""
    if kind == "TIMESTAMP WITH TIME ZONE":
        return f"""strftime("{name}" AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%S.%gZ')"""
    return f'"{name}"'


def as_parquet(text: str, types: dict[str, str]) -> list[tuple[Any, ...]]:
    """The rows of a CSV file, as they are in a Parquet file whose columns have these types."""
    names, *rows = csv.reader(io.StringIO(text))
    assert names == list(types)
    return [tuple(map(_value, row, types.values())) for row in rows]


def _value(cell: str, kind: str) -> Any:
    if kind == "VARCHAR":
        return (cell.removeprefix("'") if cell[1:2] in {*"=+-@"} else cell) or None
    if kind.startswith("DECIMAL"):
        return Decimal(cell) if cell else None
    return _VALUES[kind](cell) if cell or kind == "BOOLEAN" else None


def _date(cell: str) -> date:
    return date.fromisoformat(cell if len(cell) > len("2026-03") else f"{cell}-01")


def _time(cell: str) -> str:
    at = datetime.fromisoformat(cell).astimezone(UTC)
    return f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03}Z"


_VALUES: dict[str, Callable[[str], Any]] = {
    "BOOLEAN": "true".__eq__,
    "BIGINT": int,
    "DOUBLE": float,
    "DATE": _date,
    "TIMESTAMP WITH TIME ZONE": _time,
}
