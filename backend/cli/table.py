"""Tables on a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from backend.cli.printable import printable

# What a table without rows, and a report's row for no link, campaign or source, is called.
NONE = "(none)"


def table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Rows under their headings, in columns that are as wide as what is in them. "(none)" without rows.

    None is shown as `-`; characters that control a terminal are not passed on.
    """
    if not rows:
        return NONE
    cells = [[_heading(each) for each in headings], *([_cell(each) for each in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    )


def _heading(name: str) -> str:
    return name.replace("_", " ").upper()


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if value is None else printable(str(value))
