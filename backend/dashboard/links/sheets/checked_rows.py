"""The rows of a spreadsheet as the page shows them: each with its problems, at the cells that have them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backend.dashboard.frame.labels import LABELS
from backend.domain.errors import FieldError
from backend.domain.ids import LinkId
from backend.domain.links.links import UTM_FIELDS
from backend.imports.cells import SHORT_URL
from backend.imports.link_import import RowOutcome, RowResult
from backend.imports.spreadsheet import SHEET_COLUMNS, Spreadsheet

# Rows without a problem that are shown; those with one are all shown.
MOST_FINE_ROWS = 100
COLUMN_LABELS = {
    name: {
        SHORT_URL: "Short URL", "starts_at": "Starts", "expires_at": "Expires",
        "max_clicks": "Number of clicks", "expired_url": "Address afterwards",
    }.get(name, LABELS.get(name, name))
    for name in SHEET_COLUMNS
}  # fmt: skip
_OF_SHORT_URL = frozenset({"domain", "selected_path"})


@dataclass(frozen=True, slots=True)
class CheckedCell:
    """A cell as it was pasted, and what is wrong with it; "" if nothing is."""

    text: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class CheckedRow:
    """A row of the table. `problems` are those of fields that have no column; `becomes` says what is made.

    `link_id` is that of the link, which exists once it is made.
    """

    number: int
    outcome: RowOutcome
    cells: Sequence[CheckedCell]
    problems: Sequence[str]
    becomes: Sequence[str]
    link_id: LinkId

    @property
    def all_problems(self) -> list[str]:
        """Every problem in a sentence without its full stop."""
        return [*self.problems, *(cell.problem for cell in self.cells if cell.problem)]


def checked_rows(sheet: Spreadsheet, results: Sequence[RowResult]) -> list[CheckedRow]:
    """Each row of the sheet with what became of it, or would."""
    return [_row(sheet, line.cells, result) for line, result in zip(sheet.lines, results, strict=True)]


def shown_rows(rows: Sequence[CheckedRow]) -> list[CheckedRow]:
    """The rows that a page shows, in order: those with problems, and the first ones without."""
    room = iter(range(MOST_FINE_ROWS))
    return [row for row in rows if row.outcome is RowOutcome.REFUSED or next(room, None) is not None]


def _row(sheet: Spreadsheet, cells: Sequence[str], result: RowResult) -> CheckedRow:
    problems: dict[str, str] = {}
    others = []
    for error in result.errors:
        if not isinstance(error, FieldError):
            others.append(str(error))
        elif column := _column_of(error.field, sheet.columns):
            problems.setdefault(column, f"{COLUMN_LABELS[column]} {_rule(error)}")
        else:
            others.append(f"{LABELS.get(error.field, error.field)} {_rule(error)}")
    padded = [*cells, *[""] * (len(sheet.columns) - len(cells))]
    checked = [
        CheckedCell(text, problems.get(column or "", ""))
        for text, column in zip(padded, sheet.columns, strict=False)
    ]
    return CheckedRow(
        result.row.line, result.outcome, checked, others, _becomes(result.row.cells), result.link_id
    )


def _rule(error: FieldError) -> str:
    return "is required" if error.rule == "field is required" else error.rule


def _column_of(field: str, columns: Sequence[str | None]) -> str | None:
    """The column of the sheet that an error in a field of the link is about."""
    if field in columns:
        return field
    return SHORT_URL if field in _OF_SHORT_URL and SHORT_URL in columns else None


def _becomes(cells: dict[str, str]) -> list[str]:
    """The link in a few lines: its short URL, and what its UTM fields are with a template."""
    place = f"{cells.get('domain', '?')}/{cells.get('selected_path') or '…'}"
    utm = [f"{name.removeprefix('utm_')} {cells[name]}" for name in UTM_FIELDS if cells.get(name)]
    return [place, ", ".join(utm)] if utm else [place]
