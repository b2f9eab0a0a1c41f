"""Reads links from what somebody copied out of a spreadsheet, or a file that one wrote: one link a row."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backend.domain.fields.spreadsheets import as_it_was
from backend.domain.links.limits import LIMIT_FIELDS
from backend.domain.links.links import FALLBACK_FIELDS, SOCIAL_FIELDS, UTM_FIELDS
from backend.imports.cells import SHORT_URL
from backend.imports.csv_file import Line, UnreadableCsv, lines_of_table, plain_name
from backend.imports.row import TAGS

MOST_ROWS = 1_000
MOST_COLUMNS = 40
# The columns of a sheet, in the order in which they can be chosen. A password does not belong into a
# spreadsheet, and what another service counted is for `waylink import`.
SHEET_COLUMNS = (
    "destination_url", "link_name", "selected_path", "domain", SHORT_URL, TAGS, *UTM_FIELDS,
    "ios_behavior", "android_behavior", *SOCIAL_FIELDS, *FALLBACK_FIELDS,
    *(name for name in LIMIT_FIELDS if name != "password"), "custom_data",
)  # fmt: skip
# Other names that people give to these columns, in lower case.
_OTHER_NAMES = {
    "destination_url": ("destination", "url", "long url", "target", "target url", "landing page", "leads to"),
    "link_name": ("name", "title", "label"),
    "selected_path": ("path", "slug", "back half", "alias", "keyword"),
    SHORT_URL: ("short link",),
    TAGS: ("tag", "labels"),
    **{name: (name.removeprefix("utm_"),) for name in UTM_FIELDS},
    "ios_behavior": ("ios",),
    "android_behavior": ("android",),
    "starts_at": ("start", "starts", "from"),
    "expires_at": ("end", "expires", "until"),
}
_COLUMN_OF = {
    name: column
    for column in SHEET_COLUMNS
    for name in (column.replace("_", " "), *_OTHER_NAMES.get(column, ()))
}
# Without a scheme only with a path, as shop.com/x: else it could be the name of a file.
_ADDRESS = re.compile(r"https?://.*|[^\s/:@.]+(?:\.[^\s/:@.]+)*\.[a-z]{2,}(?::[0-9]+)?/\S*", re.IGNORECASE)
# The columns that a sheet without headings is taken to have, besides the first one with addresses.
_WITHOUT_HEADINGS = ("link_name", "selected_path")


@dataclass(frozen=True, slots=True)
class Spreadsheet:
    """The rows with their numbers, as the spreadsheet counts them. `columns` has ours for each of theirs.

    `headings` are the names in the first row; empty if that is a link already. A column that is None is left
    out.
    """

    headings: Sequence[str]
    columns: Sequence[str | None]
    lines: Sequence[Line]

    def with_columns(self, chosen: Mapping[int, str]) -> Spreadsheet:
        """The same rows with other columns, by place from 0; any other text than a column leaves it out."""
        columns = [
            (chosen[place] if chosen[place] in SHEET_COLUMNS else None) if place in chosen else column
            for place, column in enumerate(self.columns)
        ]
        return Spreadsheet(self.headings, columns, self.lines)

    @property
    def twice(self) -> list[str]:
        """The columns that more than one of theirs is taken for."""
        return sorted({name for name in self.columns if name and self.columns.count(name) > 1})

    def cells_of(self, line: Line) -> dict[str, str]:
        """The cells of a row by our columns, without empty ones."""
        pairs = zip(self.columns, line.cells, strict=False)
        return {name: as_it_was(cell.strip()) for name, cell in pairs if name and cell.strip()}


def read_spreadsheet(text: str) -> Spreadsheet:
    """The rows in a text, without empty ones. Raises UnreadableCsv."""
    lines = lines_of_table(text)
    if not lines:
        return Spreadsheet([], [], [])
    width = max(len(line.cells) for line in lines)
    if width > MOST_COLUMNS:
        raise UnreadableCsv(f"There are {width} columns, and at most {MOST_COLUMNS} are possible.")
    named = [_COLUMN_OF.get(plain_name(cell)) for cell in lines[0].cells]
    has_headings = any(named) or _has_only_headings([line.cells for line in lines[:2]])
    columns = named if has_headings else _guessed(lines[0].cells)
    columns = [*columns, *[None] * (width - len(columns))]
    rows = lines[1:] if has_headings else lines
    if has_headings and "destination_url" not in columns:
        columns = _with_destination(columns, [line.cells for line in rows])
    if len(rows) > MOST_ROWS:
        raise UnreadableCsv(f"There are {len(rows):,} rows, and at most {MOST_ROWS:,} are possible at once.")
    return Spreadsheet(lines[0].cells if has_headings else [], columns, rows)


def _has_only_headings(first_rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first of two rows has no address, and the second one has: it can only name columns."""
    has_addresses = [any(map(is_address, cells)) for cells in first_rows]
    return has_addresses == [False, True]


def _with_destination(columns: list[str | None], rows: Sequence[Sequence[str]]) -> list[str | None]:
    """The columns, where the first unknown one that has addresses only is taken for the destination."""
    for place, column in enumerate(columns):
        cells = [cells[place] for cells in rows if place < len(cells) and cells[place].strip()]
        if column is None and cells and all(map(is_address, cells)):
            return [*columns[:place], "destination_url", *columns[place + 1 :]]
    return columns


def _guessed(cells: Sequence[str]) -> list[str | None]:
    """The columns of a sheet without headings, by the cells of its first row."""
    others = iter(_WITHOUT_HEADINGS)
    address = next((place for place, cell in enumerate(cells) if is_address(cell)), None)
    return ["destination_url" if place == address else next(others, None) for place in range(len(cells))]


def is_address(cell: str) -> bool:
    """Whether the cell is a web address."""
    return _ADDRESS.fullmatch(cell.strip()) is not None
