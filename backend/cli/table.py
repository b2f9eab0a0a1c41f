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
    cells = [[_heading(each) for each in headings], *([cell(each) for each in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    )


def _heading(name: str) -> str:
    return name.replace("_", " ").upper()


def cell(value: object) -> str:
    """A value in words: what is not there as `-`, true and false as yes and no, several ones in a line."""
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case dict():
            there = {name: each for name, each in value.items() if each is not None}
            return ", ".join(f"{name} {cell(each)}" for name, each in there.items()) or "-"
        case list():
            return ", ".join(map(cell, value)) or "-"
    return printable(str(value))
