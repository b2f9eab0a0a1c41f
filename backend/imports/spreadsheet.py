"""Reads links from what somebody copied out of a spreadsheet, or a file that one wrote: one link a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backend.domain.links.limits import LIMIT_FIELDS
from backend.domain.links.links import FALLBACK_FIELDS, SOCIAL_FIELDS, UTM_FIELDS
from backend.imports.cells import SHORT_URL
from backend.imports.csv_file import Line, UnreadableCsv, lines_of_table
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
_ADDRESSES = ("http://", "https://")
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
        return {name: cell.strip() for name, cell in pairs if name and cell.strip()}


def read_spreadsheet(text: str) -> Spreadsheet:
    """The rows in a text, without empty ones. Raises UnreadableCsv."""
    lines = lines_of_table(text)
    if not lines:
        return Spreadsheet([], [], [])
    width = max(len(line.cells) for line in lines)
    if width > MOST_COLUMNS:
        raise UnreadableCsv(f"There are {width} columns, and at most {MOST_COLUMNS} are possible.")
    named = [_COLUMN_OF.get(" ".join(cell.replace("_", " ").replace("-", " ").lower().split()))
             for cell in lines[0].cells]  # fmt: skip
    has_headings = any(named)
    columns = named if has_headings else _guessed(lines[0].cells)
    columns = [*columns, *[None] * (width - len(columns))]
    rows = lines[1:] if has_headings else lines
    if len(rows) > MOST_ROWS:
        raise UnreadableCsv(f"There are {len(rows):,} rows, and at most {MOST_ROWS:,} are possible at once.")
    return Spreadsheet(lines[0].cells if has_headings else [], columns, rows)


def _guessed(cells: Sequence[str]) -> list[str | None]:
    """The columns of a sheet without headings, by the cells of its first row."""
    others = iter(_WITHOUT_HEADINGS)
    address = next((place for place, cell in enumerate(cells) if _is_address(cell)), None)
    return ["destination_url" if place == address else next(others, None) for place in range(len(cells))]


def _is_address(cell: str) -> bool:
    return cell.strip().lower().startswith(_ADDRESSES)
