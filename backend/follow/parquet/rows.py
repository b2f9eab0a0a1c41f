"""Events as rows of Parquet files: one table of all types, with a column for each known field.

What an event says beyond the fields that are known stands in `more`, as JSON.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import duckdb

from backend.domain.feed.cursor import Cursor
from backend.domain.feed.events import Event
from backend.follow.event_fields import FieldKind
from backend.follow.event_lines import as_json
from backend.follow.event_rows import MORE, field_kinds, row_of
from backend.storage.analytics.parquet import write_parquet

_OWNER_ONLY = 0o600  # it names people
_OWN: Mapping[str, str] = {
    "id": "VARCHAR",
    "type": "VARCHAR",
    "at": "TIMESTAMPTZ",
    "place": "BIGINT",
    "index": "INTEGER",
}
_TYPES = {
    FieldKind.FLAG: "BOOLEAN",
    FieldKind.INTEGER: "BIGINT",
    FieldKind.NUMBER: "DECIMAL(38, 6)",
    FieldKind.TIME: "TIMESTAMPTZ",
}
_TEXT = "VARCHAR"


class ParquetRows:
    """Writes rows into files, reads them and deletes them, by DuckDB within this process.

    A file is replaced as a whole, under the same name: who reads it sees the rows before, or those after.
    """

    def __init__(self) -> None:
        """Nothing is loaded from elsewhere."""
        settings: dict[str, str | bool | int | float | list[str]] = {
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
        self._connection = duckdb.connect(":memory:", config=settings)
        fields = {name: _TYPES.get(kind, _TEXT) for name, kind in field_kinds().items()}
        self._columns: dict[str, str] = {**_OWN, **fields, MORE: _TEXT}

    def close(self) -> None:
        """Let go of what it takes."""
        self._connection.close()

    def count(self, path: Path) -> int:
        """How many rows the file has."""
        found = self._connection.execute("SELECT count(*) FROM read_parquet($1)", [str(path)]).fetchone()
        return int(found[0]) if found else 0

    def add(self, path: Path, events: Sequence[Event]) -> None:
        """Add rows of these events to the file, which is made if it is not there."""
        structure = json.dumps([dict.fromkeys(self._columns, _TEXT)])
        typed = ", ".join(f'"{name}"::{type_} AS "{name}"' for name, type_ in self._columns.items())
        rows = f"SELECT unnest(from_json($rows::JSON, '{structure}'), recursive := true)"
        new = f"SELECT {typed} FROM ({rows})"  # noqa: S608 - of constants
        before = "SELECT * FROM read_parquet($path) UNION ALL BY NAME " if path.exists() else ""
        given = {"rows": as_json([row_of(each) for each in events])}
        self._write(path, f"{before}{new}", given | ({"path": str(path)} if before else {}))

    def cut_off(self, path: Path, behind: Cursor) -> None:
        """Delete the rows that stand behind this cursor."""
        condition = '(place, "index") > ($place, $index)'
        self._delete(path, condition, {"place": behind.place, "index": behind.index})

    def delete(self, paths: Sequence[Path], condition: str, given: Mapping[str, object]) -> None:
        """Delete the rows of these files for which the condition holds; an empty file goes."""
        for path in paths:
            self._delete(path, condition, given)

    def values(
        self, paths: Sequence[Path], column: str, condition: str, given: Mapping[str, object]
    ) -> list[str]:
        """The values of a column where the condition holds, in all of these files."""
        if not paths:
            return []
        text = f'SELECT "{column}" FROM {_ALL} WHERE {condition}'  # noqa: S608 - of constants
        found = self._connection.execute(text, {"paths": [str(each) for each in paths], **given})
        return [value for (value,) in found.fetchall() if value is not None]

    def having(self, paths: Sequence[Path], condition: str, given: Mapping[str, object]) -> list[Path]:
        """Those of the files that have such a row."""
        if not paths:
            return []
        text = f"SELECT DISTINCT filename FROM {_ALL} WHERE {condition}"  # noqa: S608 - of constants
        found = self._connection.execute(text, {"paths": [str(each) for each in paths], **given})
        return [Path(name) for (name,) in found.fetchall()]

    def _delete(self, path: Path, condition: str, given: Mapping[str, object]) -> None:
        kept = f"FROM read_parquet($path) WHERE ({condition}) IS NOT TRUE"
        values = {"path": str(path), **given}
        found = self._connection.execute(f"SELECT count(*) {kept}", values).fetchone()
        if found == (0,):
            path.unlink()
        elif found != (self.count(path),):
            self._write(path, f"SELECT * {kept}", values)

    def _write(self, path: Path, rows: str, values: Mapping[str, object]) -> None:
        """Replace the file by these rows, in the order of the feed, safely on disk."""
        unfinished = path.with_name(f"{path.name}.unfinished")
        try:
            in_order = f'SELECT * FROM ({rows}) ORDER BY place, "index"'  # noqa: S608 - of constants
            write_parquet(self._connection, in_order, values, unfinished)
            unfinished.chmod(_OWNER_ONLY)
            _keep(unfinished)
            unfinished.replace(path)
            _keep(path.parent)
        finally:
            unfinished.unlink(missing_ok=True)


_ALL = "read_parquet($paths::VARCHAR[], union_by_name = true, filename = true)"


def _keep(path: Path) -> None:
    """Have the disk know the file, or the names of a folder's files."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def days_of(events: Iterable[Event]) -> dict[str, list[Event]]:
    """The events by their days in UTC."""
    days: dict[str, list[Event]] = {}
    for event in events:
        days.setdefault(f"{event.at:%Y-%m-%d}", []).append(event)
    return days
