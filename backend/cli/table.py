"""Tables on a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from backend.cli.printable import printable

# Printed for a table without rows, and for a report's row that has no link, campaign or source.
NONE = "(none)"


def table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Rows under their headings, in columns that are as wide as what is in them. "(none)" without rows.

    None is shown as `-`; characters that control a terminal are not passed on.
    """
    if not rows:
        return NONE
    cells = [[_heading(name) for name in headings], *([cell(value) for value in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    )


def _heading(name: str) -> str:
    return name.replace("_", " ").upper()


def cell(value: object) -> str:
    """A value as a table shows it: None as `-`, true and false as yes and no, a list or dict in one line."""
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case dict():
            fields = {name: field for name, field in value.items() if field is not None}
            return ", ".join(f"{name} {cell(field)}" for name, field in fields.items()) or "-"
        case list():
            return ", ".join(map(cell, value)) or "-"
    return printable(str(value))
