"""Files of rows, read as they are: which cells stand on which line."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from backend.domain.errors import OperatorError


class UnreadableCsv(OperatorError):
    """The file as a whole can't be imported; the message says why."""


@dataclass(frozen=True, slots=True)
class Line:
    """The cells of a row, and the line that it ends at."""

    number: int
    cells: list[str]


def read_lines(path: Path) -> list[Line]:
    """The rows of a file in UTF-8 that have anything in them; raises UnreadableCsv."""
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
