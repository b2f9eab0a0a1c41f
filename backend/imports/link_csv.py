"""CSV files of links: one link a row, with create-link's fields as columns (contract, "Create link")."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from backend.domain.fields.spreadsheets import as_it_was
from backend.domain.links.input import CREATE_REQUIRED
from backend.imports.cells import SHORT_URL, Defaults, completed_cells, left_out_of, parse_defaults
from backend.imports.csv_file import Line, UnreadableCsv, plain_name, read_lines
from backend.imports.report import REPORT_COLUMNS
from backend.imports.row import COLUMNS, ImportRow, LeftOut, Repeats
from backend.imports.spreadsheet import is_address

_TOO_MANY = "(too many cells)"


def read_rows(
    path: Path,
    file_names: Mapping[str, str] | None = None,
    defaults: Mapping[str, str] | None = None,
    new_domains: Mapping[str, str] | None = None,
) -> list[ImportRow]:
    """The rows of a file. Raises UnreadableCsv and InvalidTemplate before anything is imported.

    `file_names` maps our column names to those in the file; other columns are then left out, and `short_url`
    may replace domain and path. `defaults` are templates for missing cells, by our column names.
    `new_domains` maps old domains to the links' new ones.
    """
    lines = read_lines(path)
    head = [column.strip() for column in lines[0].cells] if lines else []
    columns = _renamed(head, file_names) if file_names else _own_columns(head, lines[1:])
    templates = parse_defaults(defaults or {}, head)
    _check([*columns, *(name for name in templates if name not in columns)], head, lines[1:])
    return list(_rows(columns, head, lines[1:], templates, new_domains or {}))


def _own_columns(head: list[str], lines: list[Line]) -> list[str | None]:
    """Our columns by the names in the first line, in any case, with blanks or hyphens; None for no name."""
    names = [_spelled_as_ours(name) for name in head]
    known = {"", *COLUMNS, *REPORT_COLUMNS, SHORT_URL}
    unknown = [written for written, name in zip(head, names, strict=True) if name not in known]
    if unknown:
        raise UnreadableCsv(
            f"These columns are unknown or named twice: {', '.join(unknown)}. "
            f"A file may have: {', '.join(COLUMNS)}. Columns of another name are given by --column."
            + ("" if "destination_url" in names else _guess(head, lines))
        )
    return [None if name in {"", *REPORT_COLUMNS} else name for name in names]


def _spelled_as_ours(name: str) -> str:
    return plain_name(name).replace(" ", "_")


def _renamed(head: list[str], file_names: Mapping[str, str]) -> list[str | None]:
    names = [name.casefold() for name in head]
    absent = [file_name for file_name in file_names.values() if file_name.strip().casefold() not in names]
    if absent:
        raise UnreadableCsv(f"The first line does not name these columns: {', '.join(absent)}.")
    own_names = {file_name.strip().casefold(): name for name, file_name in file_names.items()}
    return [own_names.get(name) for name in names]


def _check(columns: list[str | None], head: list[str], lines: list[Line]) -> None:
    names = [name for name in columns if name]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UnreadableCsv(f"These columns are unknown or named twice: {', '.join(twice)}.")
    present = {*names, "domain"} if SHORT_URL in names else set(names)
    missing = [name for name in CREATE_REQUIRED if name not in present]
    if missing:
        raise UnreadableCsv(
            f"The first line must name the columns; these are missing: {', '.join(missing)}."
            + (_guess(head, lines) if "destination_url" in missing else "")
        )


def _guess(head: list[str], lines: list[Line]) -> str:
    """The question whether a column of addresses is that of destinations; "" if there is none."""
    rows = [line.cells for line in lines]
    for place, name in enumerate(head):
        cells = [cells[place] for cells in rows if place < len(cells) and cells[place].strip()]
        if name and cells and all(map(is_address, cells)):
            option = shlex.quote(f"destination_url={name}")
            return f" Is {name} where the links lead? Then give --column {option}"
    return ""


def _rows(
    columns: list[str | None],
    head: list[str],
    lines: Iterable[Line],
    defaults: Defaults,
    new_domains: Mapping[str, str],
) -> Iterator[ImportRow]:
    repeats = Repeats()
    for line in lines:
        pairs = zip(columns, line.cells, strict=False)
        row_cells = {name: as_it_was(cell.strip()) for name, cell in pairs if name and cell.strip()}
        cells = completed_cells(row_cells, dict(zip(head, line.cells, strict=False)), defaults, new_domains)
        if more := [cell for cell in line.cells[len(columns) :] if cell.strip()]:
            cells[_TOO_MANY] = more[0]
        left_out = (*_left_out(columns, head, line), *left_out_of(row_cells.get(SHORT_URL, "")))
        yield ImportRow(line.number, cells, repeats.earlier(cells), left_out)


def _left_out(columns: list[str | None], head: list[str], line: Line) -> tuple[LeftOut, ...]:
    return tuple(
        LeftOut(name or "(no name)", cell, "no column of ours was given for it")
        for name, column, cell in zip(head, columns, line.cells, strict=False)
        if column is None and cell.strip() and _spelled_as_ours(name) not in REPORT_COLUMNS
    )
