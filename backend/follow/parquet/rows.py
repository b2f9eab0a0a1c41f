"""Events as rows of Parquet files: one table of all types, with a column for each known field.

Other fields of an event are in `more`, as JSON.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import duckdb

from backend.domain.feed.cursor import Cursor
from backend.domain.feed.events import Event
from backend.follow.event_fields import FieldKind
from backend.follow.event_lines import as_json
from backend.follow.event_rows import MORE, field_kinds, row_of
from backend.storage.analytics.parquet import write_parquet
from backend.system.folder_owner import give_to_caller

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

    A file is replaced as a whole, so a reader sees either the earlier rows or the new ones.
    """

    def __init__(self) -> None:
        """Open DuckDB, which loads no extensions."""
        settings: dict[str, str | bool | int | float | list[str]] = {
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
        self._connection = duckdb.connect(":memory:", config=settings)
        fields = {name: _TYPES.get(kind, _TEXT) for name, kind in field_kinds().items()}
        self._columns: dict[str, str] = {**_OWN, **fields, MORE: _TEXT}

    def close(self) -> None:
        """Close DuckDB."""
        self._connection.close()

    def count(self, path: Path) -> int:
        """How many rows the file has."""
        row = self._connection.execute("SELECT count(*) FROM read_parquet($1)", [str(path)]).fetchone()
        return int(row[0]) if row else 0

    def add(self, path: Path, events: Sequence[Event]) -> None:
        """Add rows of these events to the file, which is created if it does not exist."""
        structure = json.dumps([dict.fromkeys(self._columns, _TEXT)])
        typed = ", ".join(f'"{name}"::{type_} AS "{name}"' for name, type_ in self._columns.items())
        rows = f"SELECT unnest(from_json($rows::JSON, '{structure}'), recursive := true)"
        new = f"SELECT {typed} FROM ({rows})"  # noqa: S608 - of constants
        before = "SELECT * FROM read_parquet($path) UNION ALL BY NAME " if path.exists() else ""
        parameters = {"rows": as_json([row_of(event) for event in events])}
        self._write(path, f"{before}{new}", parameters | ({"path": str(path)} if before else {}))

    def cut_off(self, paths: Sequence[Path], behind: Cursor) -> list[str]:
        """Delete the rows of these files that stand behind this cursor. Returns the types of their events."""
        condition = '(place, "index") > ($place, $index)'
        parameters = {"place": behind.place, "index": behind.index}
        types = self.values(paths, "type", condition, parameters)
        self.delete(self.having(paths, condition, parameters), condition, parameters)
        return types

    def last_ids(self, paths: Sequence[Path], place: int, limit: int) -> dict[int, str]:
        """The last places up to this one of which these files have rows, each with an event's id."""
        if not paths:
            return {}
        text = f"SELECT place, min(id) FROM {_ALL} WHERE place <= $place GROUP BY place ORDER BY place DESC LIMIT $limit"  # noqa: S608, E501 - of constants
        parameters = {"paths": [str(path) for path in paths], "place": place, "limit": limit}
        return dict(self._connection.execute(text, parameters).fetchall())

    def delete(self, paths: Sequence[Path], condition: str, parameters: Mapping[str, object]) -> None:
        """Delete the rows of these files for which the condition holds, and files that are empty then."""
        for path in paths:
            self._delete(path, condition, parameters)

    def values(
        self, paths: Sequence[Path], column: str, condition: str, parameters: Mapping[str, object]
    ) -> list[str]:
        """The values of a column where the condition holds, in all of these files."""
        if not paths:
            return []
        text = f'SELECT "{column}" FROM {_ALL} WHERE {condition}'  # noqa: S608 - of constants
        cursor = self._connection.execute(text, {"paths": [str(path) for path in paths], **parameters})
        return [value for (value,) in cursor.fetchall() if value is not None]

    def having(self, paths: Sequence[Path], condition: str, parameters: Mapping[str, object]) -> list[Path]:
        """Those of these files that have a row for which the condition holds."""
        if not paths:
            return []
        text = f"SELECT DISTINCT filename FROM {_ALL} WHERE {condition}"  # noqa: S608 - of constants
        cursor = self._connection.execute(text, {"paths": [str(path) for path in paths], **parameters})
        return [Path(name) for (name,) in cursor.fetchall()]

    def _delete(self, path: Path, condition: str, parameters: Mapping[str, object]) -> None:
        remaining_rows = f"FROM read_parquet($path) WHERE ({condition}) IS NOT TRUE"
        values = {"path": str(path), **parameters}
        row = self._connection.execute(f"SELECT count(*) {remaining_rows}", values).fetchone()
        if row == (0,):
            path.unlink()
        elif row != (self.count(path),):
            self._write(path, f"SELECT * {remaining_rows}", values)

    def _write(self, path: Path, rows: str, values: Mapping[str, object]) -> None:
        """Replace the file by these rows, in the order of the feed, safely on disk."""
        unfinished = path.with_name(f"{path.name}.unfinished")
        try:
            in_order = f'SELECT * FROM ({rows}) ORDER BY place, "index"'  # noqa: S608 - of constants
            write_parquet(self._connection, in_order, values, unfinished)
            unfinished.chmod(_OWNER_ONLY)
            _sync(unfinished, give_to_caller)
            unfinished.replace(path)
            _sync(path.parent)
        finally:
            unfinished.unlink(missing_ok=True)


_ALL = "read_parquet($paths::VARCHAR[], union_by_name = true, filename = true)"


def _sync(path: Path, before: Callable[[int, Path], None] = lambda _, __: None) -> None:
    """Sync the file, or the names of a folder's files, to disk; `before` that something is done with it."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        before(descriptor, path)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def days_of(events: Iterable[Event]) -> dict[str, list[Event]]:
    """The events by their days in UTC."""
    days: dict[str, list[Event]] = {}
    for event in events:
        days.setdefault(f"{event.at:%Y-%m-%d}", []).append(event)
    return days
