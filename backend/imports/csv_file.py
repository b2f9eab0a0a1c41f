"""Reads CSV files into rows, without interpreting their cells."""

from __future__ import annotations

import csv
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
        return list(_lines(path))
    except UnicodeDecodeError:
        raise UnreadableCsv(f"{path} is not in UTF-8.") from None
    except csv.Error as error:
        raise UnreadableCsv(f"{path} is not a CSV file: {error}.") from None


def _lines(path: Path) -> Iterator[Line]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True)
        for cells in reader:
            if any(cells):
                yield Line(reader.line_num, cells)
