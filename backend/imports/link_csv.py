"""CSV files of links: one link a row, with create-link's fields as columns (contract, "Create link")."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from backend.domain.links.input import CREATE_REQUIRED
from backend.imports.cells import SHORT_URL, Defaults, completed_cells, parse_defaults
from backend.imports.csv_file import Line, UnreadableCsv, read_lines
from backend.imports.report import REPORT_COLUMNS
from backend.imports.row import COLUMNS, ImportRow, LeftOut, Repeats

_TOO_MANY = "(too many cells)"


def read_rows(
    path: Path,
    file_names: Mapping[str, str] | None = None,
    defaults: Mapping[str, str] | None = None,
    new_domains: Mapping[str, str] | None = None,
) -> list[ImportRow]:
    """The rows of a file in UTF-8. Raises UnreadableCsv and InvalidTemplate before anything is imported.

    `file_names` maps our column names to those in the file; other columns are then left out, and `short_url`
    may replace domain and path. `defaults` are templates for missing cells, by our column names.
    `new_domains` maps old domains to the links' new ones.
    """
    lines = read_lines(path)
    head = [column.strip() for column in lines[0].cells] if lines else []
    columns = _renamed(head, file_names) if file_names else _own_columns(head)
    templates = parse_defaults(defaults or {}, head)
    _check([*columns, *(name for name in templates if name not in columns)])
    return list(_rows(columns, head, lines[1:], templates, new_domains or {}))


def _own_columns(head: list[str]) -> list[str | None]:
    unknown = [name for name in head if name not in {*COLUMNS, *REPORT_COLUMNS, SHORT_URL}]
    if unknown:
        raise UnreadableCsv(
            f"These columns are unknown or named twice: {', '.join(unknown)}. "
            f"A file may have: {', '.join(COLUMNS)}. Columns of another name are given by --column."
        )
    return [None if name in REPORT_COLUMNS else name for name in head]


def _renamed(head: list[str], file_names: Mapping[str, str]) -> list[str | None]:
    absent = [file_name for file_name in file_names.values() if file_name not in head]
    if absent:
        raise UnreadableCsv(f"The first line does not name these columns: {', '.join(absent)}.")
    own_names = {file_name: name for name, file_name in file_names.items()}
    return [own_names.get(name) for name in head]


def _check(columns: list[str | None]) -> None:
    names = [name for name in columns if name]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UnreadableCsv(f"These columns are unknown or named twice: {', '.join(twice)}.")
    present = {*names, "domain"} if SHORT_URL in names else set(names)
    missing = [name for name in CREATE_REQUIRED if name not in present]
    if missing:
        raise UnreadableCsv(f"The first line must name the columns; these are missing: {', '.join(missing)}.")


def _rows(
    columns: list[str | None],
    head: list[str],
    lines: Iterable[Line],
    defaults: Defaults,
    new_domains: Mapping[str, str],
) -> Iterator[ImportRow]:
    repeats = Repeats()
    for line in lines:
        row_cells = {name: cell for name, cell in zip(columns, line.cells, strict=False) if name and cell}
        cells = completed_cells(row_cells, dict(zip(head, line.cells, strict=False)), defaults, new_domains)
        if len(line.cells) > len(columns):
            cells[_TOO_MANY] = line.cells[len(columns)]
        yield ImportRow(line.number, cells, repeats.earlier(cells), _left_out(columns, head, line))


def _left_out(columns: list[str | None], head: list[str], line: Line) -> tuple[LeftOut, ...]:
    return tuple(
        LeftOut(name, cell, "no column of ours was given for it")
        for name, column, cell in zip(head, columns, line.cells, strict=False)
        if column is None and cell and name not in REPORT_COLUMNS
    )
