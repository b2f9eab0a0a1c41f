"""Safe cells for CSV files that are opened in spreadsheets."""

from __future__ import annotations

import re
from collections.abc import Iterable

_END_OF_LINE = "\r\n"
# What separates cells, by the program and the language of its user.
_SEPARATORS = ";\t|"
_NEEDS_QUOTES = re.compile(rf'[",\r\n{_SEPARATORS}]')
# The first character of formulas, also in full width. Some programs ignore white space before it. Where a
# single quote stands before it already, one more tells it from ours.
_FORMULA, _BLANKS = "=+@\uff1d\uff0b\uff0d\uff20-", " \u3000\u00a0"
_BEGINS_FORMULA = re.compile(rf"[{_BLANKS}']*[\t\r\n{_FORMULA}]")
_ESCAPED = re.compile(rf"'(?={_BEGINS_FORMULA.pattern})")
# Where a program that separates by something else than a comma begins a cell, whatever quotes stand before.
_BEHIND, _FORMULA_THERE = rf"([{_SEPARATORS}\r\n][{_BLANKS}]*)", rf"(?=[{_BLANKS}'\"]*[{_FORMULA}])"
_FORMULA_BEHIND, _ESCAPED_BEHIND = (re.compile(_BEHIND + quote + _FORMULA_THERE) for quote in ("", "'"))
# Below zero, as numbers are written here.
_NUMBER = re.compile(r"-[0-9]+(\.[0-9]+)?(e-?[0-9]+)?")


def inert(cell: str) -> str:
    """The cell's text; if a spreadsheet could take it for a formula, with a single quote before it.

    The same holds for what stands behind a separator in the cell: where lists are separated by semicolons, a
    program may split the line there. A number below zero is no formula, and programs can read it. Visitors
    can put any text into an address, and it may end up in such a file. `as_it_was` reads it.
    """
    if _NUMBER.fullmatch(cell):
        return cell
    text = _FORMULA_BEHIND.sub(r"\1'", cell)
    return f"'{text}" if _BEGINS_FORMULA.match(text) else text


def as_it_was(cell: str) -> str:
    """The text of which `inert` made this cell, or the cell itself if it made none of it.

    A spreadsheet has a quote before a cell for the same reason, so what a person typed so is read as meant.
    """
    return _ESCAPED_BEHIND.sub(r"\1", cell[_ESCAPED.match(cell) is not None :])


def csv_line(cells: Iterable[str | None]) -> str:
    """A line of a CSV file (RFC 4180); None is an empty cell."""
    return line_of_written(csv_cell(cell or "") for cell in cells)


def line_of_written(cells: Iterable[str]) -> str:
    """A line of cells that are written already. Readers leave out empty lines: a single cell has quotes."""
    return (",".join(cells) or '""') + _END_OF_LINE


def csv_cell(cell: str) -> str:
    """The cell as it is written, in quotes where it needs them, and inert."""
    text = inert(cell)
    return '"' + text.replace('"', '""') + '"' if _NEEDS_QUOTES.search(text) else text
