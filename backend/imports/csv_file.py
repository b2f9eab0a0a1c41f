"""Reads CSV files, and what was copied out of a spreadsheet, into rows, without interpreting their cells.

Excel, Numbers, LibreOffice and Google Sheets put cells with tabs between them into the clipboard, and quote a
cell that contains a tab, a quote or the end of a line. Files have commas, or semicolons where the comma
separates decimals.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from backend.domain.errors import OperatorError


class UnreadableCsv(OperatorError):
    """The whole file can't be imported. The message says why."""


@dataclass(frozen=True, slots=True)
class Line:
    """The cells of a row, and the number of the line on which it ends."""

    number: int
    cells: list[str]


def read_lines(path: Path) -> list[Line]:
    """The rows of a file in UTF-8, without empty ones. Raises UnreadableCsv."""
    try:
        return list(_lines_of_file(path))
    except UnicodeDecodeError:
        raise UnreadableCsv(f"{path} is not in UTF-8.") from None
    except csv.Error as error:
        raise UnreadableCsv(f"{path} is not a CSV file: {error}.") from None


def _lines_of_file(path: Path) -> Iterator[Line]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True)
        for cells in reader:
            if any(cells):
                yield Line(reader.line_num, cells)


def lines_of_table(text: str) -> list[Line]:
    """The rows in a text, without empty ones. Raises UnreadableCsv."""
    try:
        return list(_lines_of_text(text.removeprefix("\ufeff")))
    except csv.Error as error:
        raise UnreadableCsv(f"This can't be read as a table: {error}.") from None


def _lines_of_text(text: str) -> Iterator[Line]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter_of(text))
    for number, cells in enumerate(reader, 1):
        if any(cell.strip() for cell in cells):
            yield Line(number, cells)


def _delimiter_of(text: str) -> str:
    """What separates cells: a tab if the first row has one, else the more frequent of comma and semicolon."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    if "\t" in first:
        return "\t"
    return ";" if first.count(";") > first.count(",") else ","
