"""Cells of CSV files that people open in spreadsheets."""

from __future__ import annotations

# What begins a formula, also as East Asian keyboards type it; some programs pass over white space before it.
_BEGINS_FORMULA = tuple("=+-@\uff1d\uff0b\uff0d\uff20\t\r\n")


def inert(cell: str) -> str:
    """The cell, which no spreadsheet takes for a formula: anyone can write into an address."""
    return f"'{cell}" if cell.lstrip(" \u3000\u00a0").startswith(_BEGINS_FORMULA) else cell
