"""Reads tables into rows of cells, as they are: CSV files, and what was copied out of a spreadsheet.

Excel, Numbers, LibreOffice and Google Sheets put cells with tabs between them into the clipboard, and quote a
cell that contains a tab, a quote or the end of a line. Files have commas, or semicolons where the comma
separates decimals, and Excel writes them in UTF-8, in UTF-16 ("Unicode text") or in the code page of Windows.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from unicodedata import category

from backend.domain.errors import OperatorError

if TYPE_CHECKING:
    from _csv import Reader

_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # .xlsx and .ods are ZIP archives, .xls is older
# How much of a file is looked at for zeros: in UTF-16, one of two bytes of a Latin letter is one, and other
# texts have a stray one at most. The names of columns have Latin letters, so some of many bytes are.
_SAMPLE = 4096
_FEWEST_ZEROS = 1 / 32
# What programs of MS-DOS write behind a text.
_ENDS = "\x00\x1a"
# The first line by which a file tells Excel what separates its cells. Other programs add empty cells to it.
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?[ \t,;]*(?:\r\n|\r|\n|$)', re.IGNORECASE)
_QUOTED = re.compile(r'"[^"]*"')
# Within this many characters, the first row of a table ends.
_FIRST_ROW = 65_536


class UnreadableCsv(OperatorError):
    """The whole file can't be imported. The message says why."""


def plain_name(name: str) -> str:
    """A column's name in small letters, without what nobody sees, and with one blank for `_`, `-` and blanks.

    Files that were put together have the mark of their encoding within.
    """
    seen = "".join(character for character in name if category(character) != "Cf")
    return " ".join(seen.replace("_", " ").replace("-", " ").lower().split())


@dataclass(frozen=True, slots=True)
class Line:
    """The cells of a row, and the number of the line on which it ends."""

    number: int
    cells: list[str]


def read_text(path: Path) -> str:
    """The text of a file, whatever spreadsheets write it in: UTF-8, UTF-16 or Windows-1252.

    Raises UnreadableCsv for a workbook.
    """
    data = path.read_bytes()
    if data.startswith(_WORKBOOKS):
        raise UnreadableCsv(f"{path} is a workbook: save its sheet as CSV.")
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return data.removeprefix(bom).decode(encoding, "replace")
    sample = data[:_SAMPLE].rstrip(_ENDS.encode())
    before = sample[::2].count(0) - sample[1::2].count(0)
    if abs(before) > len(sample) * _FEWEST_ZEROS:
        return data.decode("utf-16-be" if before > 0 else "utf-16-le", "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def read_lines(path: Path) -> list[Line]:
    """The rows of a file, without empty ones, by the line on which each ends. Raises UnreadableCsv."""
    try:
        return list(_lines_of_file(read_text(path)))
    except csv.Error as error:
        raise UnreadableCsv(f"{path} is not a CSV file: {error}.") from None


def _lines_of_file(text: str) -> Iterator[Line]:
    reader, before = _reader(text, strict=True)
    for cells in reader:
        if not _is_empty(cells):
            yield Line(before + reader.line_num, cells)


def lines_of_table(text: str) -> list[Line]:
    """The rows in a text, without empty ones, as a spreadsheet counts them. Raises UnreadableCsv."""
    try:
        reader, before = _reader(text.removeprefix("\ufeff"), strict=False)
        return [Line(before + place, cells) for place, cells in enumerate(reader, 1) if not _is_empty(cells)]
    except csv.Error as error:
        raise UnreadableCsv(f"This can't be read as a table: {error}.") from None


def _reader(text: str, *, strict: bool) -> tuple[Reader, int]:
    """A reader of the rows, and how many lines come before the first one."""
    told = _SEPARATOR_LINE.match(text)
    table = (text[told.end() :] if told else text).rstrip(_ENDS)
    first = _first_row(table)
    # A program that did not know the line may have written the table anew.
    delimiter = told[1] if told and told[1] in first else _delimiter_of(first)
    lines = io.StringIO(table, newline="")
    # Where the first row has no blanks behind separators, a quote behind one begins no quoted cell.
    has_blanks = f"{delimiter} " in first
    reader = csv.reader(lines, delimiter=delimiter, strict=strict, skipinitialspace=has_blanks)
    return reader, 1 if told else 0


def _is_empty(cells: list[str]) -> bool:
    return not any(cell.strip() for cell in cells)


def _first_row(text: str) -> str:
    """The first row with anything in it, without what stands in quotes, which separates nothing."""
    lines = re.split("[\r\n]", _QUOTED.sub('""', text[:_FIRST_ROW]))
    return next((line for line in lines if line.strip()), "")


def _delimiter_of(first_row: str) -> str:
    """What separates cells: a tab if the first row has one, else the more frequent of comma and semicolon.

    A first row of one cell heads a single column, whose addresses may have commas: a tab then leaves them
    whole.
    """
    commas, semicolons = first_row.count(","), first_row.count(";")
    if "\t" in first_row or not commas + semicolons:
        return "\t"
    return ";" if semicolons > commas else ","
