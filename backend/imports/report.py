"""The files that an import writes: refused rows, and values that were left out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import count
from pathlib import Path

from backend.domain.fields.spreadsheets import csv_line
from backend.imports.row import COLUMNS, HAS_PASSWORD, ImportRow
from backend.system.folder_owner import give_to_caller
from backend.system.standard_streams import stream_at

# Columns of a report, so that its corrected rows can be imported as they are.
REPORT_COLUMNS = ("line", "reason")
_PLACE = ("domain", "selected_path")
_LEFT_OUT_COLUMNS = ("line", *_PLACE, "column", "value", "reason")


def write_refused(path: Path, refused: Iterable[tuple[ImportRow, str]]) -> Path:
    """Write the refused rows with their reasons. Once corrected, the file can be imported by `import csv`.

    Returns the file's name: that of `path`, or with a number where another file is there. Of a password only
    that there is one is written, so that the link is disabled until it gets it again.
    """
    head = (*REPORT_COLUMNS, *COLUMNS)
    rows = [{"line": str(row.line), "reason": reason, **_cells(row)} for row, reason in refused]
    return _keep(path, [head, *([row.get(name) for name in head] for row in rows)])


def write_left_out(path: Path, rows: Iterable[ImportRow]) -> Path:
    """Write the values of these rows that have no place in a Waylink link. Returns the file's name."""
    values = [
        (
            str(row.line),
            *(row.cells.get(name) for name in _PLACE),
            left_out.column,
            left_out.value,
            left_out.reason,
        )
        for row in rows
        for left_out in row.left_out
    ]
    return _keep(path, [_LEFT_OUT_COLUMNS, *values])


def _cells(row: ImportRow) -> dict[str, str]:
    cells = {name: cell for name, cell in row.cells.items() if name in COLUMNS}
    return cells | {HAS_PASSWORD: "true"} if cells.pop("password", "") else cells


def _keep(path: Path, rows: Iterable[Sequence[str | None]]) -> Path:
    """Write a new table that only its owner may read: it may name people. Returns its name.

    A file that is there is left alone, since somebody may have corrected it.
    """
    content = "".join(map(csv_line, rows)).encode()
    if (stream := stream_at(path)) is not None:
        with os.fdopen(os.dup(stream), "wb") as file:
            file.write(content)
        return path
    for number in count(1):
        name = path if number == 1 else path.with_stem(f"{path.stem}-{number}")
        try:
            descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            if name.is_file() and name.read_bytes() == content:
                return name
            if name.is_file() or name.is_dir() or not name.exists():  # the last leads to nothing
                continue
            descriptor = os.open(name, os.O_WRONLY)  # such as a pipe
        with os.fdopen(descriptor, "wb") as file:
            give_to_caller(descriptor, name)
            file.write(content)
        return name
    raise AssertionError("numbers don't end")
