"""/links/sheet: make links from a spreadsheet. One page shows each row and its problems, the next the links.

Who opens it: whoever has a campaign's links in a table, often somebody else's. They decide by the first page
whether the table was understood, and go back into the spreadsheet with the short URLs of the second.

A link's id follows from its row (imports/link_import), so the same rows sent again make nothing twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from quart import Response

from backend.dashboard.frame.blueprint import accepts_forms_of, dashboard, needs, org_id
from backend.dashboard.frame.form import field
from backend.dashboard.frame.labels import LABELS
from backend.dashboard.frame.page import page
from backend.dashboard.links.editing.own_link import short_url_of
from backend.dashboard.links.editing.usual_domain import usual_domain
from backend.dashboard.links.sheets.sheet_form import SheetForm, sent_sheet_form
from backend.domain.accounts.permissions import Permission
from backend.domain.errors import FieldError
from backend.domain.ids import LinkId
from backend.domain.links.links import UTM_FIELDS, Link
from backend.imports.cells import SHORT_URL
from backend.imports.csv_file import UnreadableCsv
from backend.imports.link_import import LinkImport, RowOutcome, RowResult
from backend.imports.sheet_rows import sheet_rows
from backend.imports.spreadsheet import MOST_ROWS, SHEET_COLUMNS, Spreadsheet
from backend.storage.accounts.domains import list_domains
from backend.storage.driver.deadlines import lift_deadline
from backend.storage.links.links import find_links
from backend.storage.links.tags import list_tags
from backend.storage.links.utm_templates import list_templates
from backend.web.current import resources

# Rows without a problem that are shown; those with one are all shown.
MOST_FINE_ROWS = 100
COLUMN_LABELS = {
    name: {
        SHORT_URL: "Short URL", "starts_at": "Starts", "expires_at": "Expires",
        "max_clicks": "Number of clicks", "click_to_continue": "Click to continue",
        "expired_url": "Address afterwards",
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


# A thousand rows with long addresses, each byte of which may be percent-encoded; as much as POST /links/bulk.
MAX_SHEET_BYTES = 2 * 1024 * 1024
_CHANGED = "The table is another one than the one that was looked at. Look at it again; nothing was made."


@dataclass(frozen=True, slots=True)
class MadeRow:
    """A row with its link, which is None if the row was refused."""

    row: CheckedRow
    link: Link | None
    short_url: str


@dashboard.get("/links/sheet")
@needs(Permission.LINKS_WRITE)
async def links_sheet() -> Response:
    """The form for a table."""
    domains = await list_domains(resources().database, org_id())
    return await _form(SheetForm(domain=await usual_domain(domains)))


@dashboard.post("/links/sheet")
@needs(Permission.LINKS_WRITE)
@accepts_forms_of(MAX_SHEET_BYTES)
async def links_sheet_check() -> Response:
    """The form again with each row of the table, and what is wrong with it. Nothing is made."""
    lift_deadline()  # it only reads
    return await _check(sent_sheet_form())


@dashboard.post("/links/sheet/done")
@needs(Permission.LINKS_WRITE)
@accepts_forms_of(MAX_SHEET_BYTES)
async def links_sheet_done() -> Response:
    """Make the links, and show what became of each row. One that is refused does not stop the others."""
    form = sent_sheet_form()
    if field("seen") != form.digest:
        return await _check(form, problem=_CHANGED)
    try:
        sheet = form.spreadsheet()
    except UnreadableCsv as error:
        return await _form(form, problem=str(error))
    rows = await _run(form, sheet, dry_run=False)
    links = await find_links(resources().database, [LinkId(row.link_id) for row in rows], org_id())
    made = [_made(row, links) for row in rows]
    refused = [row for row in rows if row.outcome is RowOutcome.REFUSED]
    return await page(
        "links/sheet_done.html",
        rows=made,
        counts={outcome.value: sum(row.outcome is outcome for row in rows) for outcome in RowOutcome},
        copied="\n".join(_tabbed([row.link.link_name, row.short_url]) for row in made if row.link),
        form=replace(form, text=_text_of(sheet, refused)),
    )


async def _check(form: SheetForm, *, problem: str = "") -> Response:
    try:
        sheet = form.spreadsheet()
    except UnreadableCsv as error:
        return await _form(form, problem=str(error))
    if not sheet.lines:
        return await _form(form, problem="There is no row in it. Paste the table, or choose a file.")
    if sheet.twice:
        names = ", ".join(COLUMN_LABELS[name] for name in sheet.twice)
        problem = problem or f"Several columns are taken for the same: {names}. Choose one of them."
    rows = [] if sheet.twice else await _run(form, sheet, dry_run=True)
    refused = sum(row.outcome is RowOutcome.REFUSED for row in rows)
    chosen = {place: name or "" for place, name in enumerate(sheet.columns)}
    return await _form(
        replace(form, chosen=chosen),
        problem=problem,
        sheet=sheet,
        rows=shown_rows(rows),
        in_all=len(rows),
        refused=refused,
        already=sum(row.outcome is RowOutcome.ALREADY_THERE for row in rows),
    )


async def _run(form: SheetForm, sheet: Spreadsheet, *, dry_run: bool) -> list[CheckedRow]:
    database = resources().database
    rows = sheet_rows(sheet, form.common(await list_templates(database, org_id())))
    importing = LinkImport(
        database, org_id(), resources().clock(), dry_run=dry_run, policies=resources().destinations
    )
    report = await importing.run(rows, lambda _: None)
    return checked_rows(sheet, report.results)


async def _form(form: SheetForm, *, problem: str = "", **checked: Any) -> Response:
    database = resources().database
    return await page(
        "links/sheet.html",
        422 if problem else 200,
        form=form,
        problem=problem,
        domains=[(name, name) for name in await list_domains(database, org_id())],
        templates=await list_templates(database, org_id()),
        tags=await list_tags(database, org_id()),
        column_labels=COLUMN_LABELS,
        most_rows=MOST_ROWS,
        **checked,
    )


def _made(row: CheckedRow, links: Mapping[LinkId, Link]) -> MadeRow:
    link = links.get(row.link_id)
    return MadeRow(row, link, short_url_of(link) if link else "")


def _text_of(sheet: Spreadsheet, rows: Sequence[CheckedRow]) -> str:
    """These rows as a table that can be pasted, with the headings of the sheet."""
    headings = [sheet.headings] if sheet.headings else []
    return "\n".join(map(_tabbed, [*headings, *([cell.text for cell in row.cells] for row in rows)]))


def _tabbed(cells: Sequence[str]) -> str:
    """A row as spreadsheets copy it."""
    return "\t".join(map(_quoted, cells))


def _quoted(cell: str) -> str:
    doubled = cell.replace('"', '""')
    return f'"{doubled}"' if set(cell) & set('\t\n"') else cell
