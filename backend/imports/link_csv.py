"""CSV files of links: one row a link, with the fields of create-link as columns (contract, "Create link")."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backend.domain.errors import InvalidField
from backend.domain.link_input import CREATE_OPTIONAL, CREATE_REQUIRED, NewLink, parse_new_link

# Columns of a report, so that its corrected rows can be imported as they are.
REPORT_COLUMNS = ("line", "reason")
_COLUMNS = (*CREATE_REQUIRED, *CREATE_OPTIONAL)
_NUMBERS = ("ios_behavior", "android_behavior")


class UnreadableCsv(ValueError):
    """The file as a whole can't be imported; the message says why."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the file: the line it ends at, its cells by column, and how often the same row came before."""

    line: int
    cells: dict[str, str]
    earlier: int

    @property
    def text(self) -> str:
        """The row in one form, whatever the order of the columns: the same text is the same link."""
        return json.dumps([self.cells, self.earlier], sort_keys=True)

    def parse(self) -> NewLink:
        """The link that the row asks for; raises RequestError as create-link's body does."""
        return parse_new_link({name: _value(name, cell) for name, cell in self.cells.items()})


def read_rows(path: Path) -> list[Row]:
    """The rows of a file in UTF-8; raises UnreadableCsv, before anything is imported."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            columns = _checked_columns(next(reader, []))
            return list(_rows(columns, reader, lambda: reader.line_num))
    except UnicodeDecodeError:
        raise UnreadableCsv(f"{path} is not in UTF-8.") from None
    except csv.Error as error:
        raise UnreadableCsv(f"{path} is not a CSV file: {error}.") from None


def write_report(path: Path, refused: Iterable[tuple[Row, str]]) -> None:
    """Write the refused rows with their reasons; corrected, the file can be imported as it is."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*REPORT_COLUMNS, *_COLUMNS])
        writer.writeheader()
        for row, reason in refused:
            known = {name: cell for name, cell in row.cells.items() if name in _COLUMNS}
            writer.writerow({"line": row.line, "reason": reason} | known)


def _checked_columns(columns: list[str]) -> list[str]:
    names = [column.strip() for column in columns]
    missing = [name for name in CREATE_REQUIRED if name not in names]
    unknown = [name for name in names if name not in (*_COLUMNS, *REPORT_COLUMNS)]
    if missing:
        raise UnreadableCsv(f"The first line must name the columns; these are missing: {', '.join(missing)}.")
    if unknown or len(set(names)) < len(names):
        wrong = unknown or [name for name in names if names.count(name) > 1]
        raise UnreadableCsv(
            f"These columns are unknown or named twice: {', '.join(wrong)}. "
            f"A file may have: {', '.join(_COLUMNS)}."
        )
    return names


def _rows(columns: list[str], lines: Iterable[list[str]], line_number: Any) -> Iterator[Row]:
    seen: dict[str, int] = {}
    for cells in lines:
        if not any(cells):
            continue
        given = {name: cell for name, cell in zip(columns, cells, strict=False) if cell}
        if len(cells) > len(columns):
            given["(too many cells)"] = cells[len(columns)]
        for name in REPORT_COLUMNS:
            given.pop(name, None)
        text = json.dumps(given, sort_keys=True)
        yield Row(line_number(), given, seen.get(text, 0))
        seen[text] = seen.get(text, 0) + 1


def _value(name: str, cell: str) -> object:
    if name in _NUMBERS and cell.strip().isdecimal():
        return int(cell)
    return _json(cell) if name == "custom_data" else cell


def _json(cell: str) -> object:
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        raise InvalidField("custom_data", "must be a JSON object") from None
