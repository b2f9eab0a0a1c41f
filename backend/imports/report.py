"""The files that an import writes: refused rows, and values that were left out."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

from backend.domain.fields.spreadsheets import inert
from backend.imports.row import COLUMNS, ImportRow

# Columns of a report, so that its corrected rows can be imported as they are.
REPORT_COLUMNS = ("line", "reason")
_PLACE = ("domain", "selected_path")
_LEFT_OUT_COLUMNS = ("line", *_PLACE, "column", "value", "reason")


def write_refused(path: Path, refused: Iterable[tuple[ImportRow, str]]) -> None:
    """Write the refused rows with their reasons. Once corrected, the file can be imported by `import csv`."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*REPORT_COLUMNS, *COLUMNS])
        writer.writeheader()
        for row, reason in refused:
            cells = {name: cell for name, cell in row.cells.items() if name in COLUMNS}
            writer.writerow({"line": row.line, "reason": reason} | cells)


def write_left_out(path: Path, rows: Iterable[ImportRow]) -> int:
    """Write the values of these rows that have no place in a Waylink link. Returns how many there are."""
    values = [
        (
            row.line,
            *(row.cells.get(name) for name in _PLACE),
            left_out.column,
            inert(left_out.value),
            left_out.reason,
        )
        for row in rows
        for left_out in row.left_out
    ]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(_LEFT_OUT_COLUMNS)
        writer.writerows(values)
    return len(values)
