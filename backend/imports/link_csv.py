"""CSV files of links: one link a row, with create-link's fields as columns (contract, "Create link")."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from backend.domain.link_input import CREATE_REQUIRED
from backend.imports.csv_file import Line, UnreadableCsv, read_lines
from backend.imports.report import REPORT_COLUMNS
from backend.imports.row import COLUMNS, ImportRow, LeftOut, Repeats

# A whole short URL in one column, instead of domain and path.
SHORT_URL = "short_url"
# A path that no link can have: so a short URL without a path is refused, and no path is generated.
_NO_PATH = "/"
_TOO_MANY = "(too many cells)"


def read_rows(path: Path, named: Mapping[str, str] | None = None) -> list[ImportRow]:
    """The rows of a file in UTF-8. Raises UnreadableCsv before anything is imported.

    `named` maps our column names to those in the file; other columns are then ignored, and `short_url` may
    replace domain and path.
    """
    lines = read_lines(path)
    head = [column.strip() for column in lines[0].cells] if lines else []
    columns = _renamed(head, named) if named else _known(head)
    _check(columns, path)
    return list(_rows(columns, head, lines[1:]))


def place_of(short_url: str) -> dict[str, str]:
    """Domain and path of a short URL as cells. The URL may lack its scheme, as in files of some services."""
    try:
        parts = urlsplit(short_url if "://" in short_url else f"https://{short_url}")
    except ValueError:
        return {"domain": short_url, "selected_path": _NO_PATH}
    return {"domain": parts.netloc, "selected_path": parts.path.removeprefix("/") or _NO_PATH}


def _known(head: list[str]) -> list[str | None]:
    unknown = [name for name in head if name not in {*COLUMNS, *REPORT_COLUMNS}]
    if unknown:
        raise UnreadableCsv(
            f"These columns are unknown or named twice: {', '.join(unknown)}. "
            f"A file may have: {', '.join(COLUMNS)}. Columns of another name are given by --column."
        )
    return [None if name in REPORT_COLUMNS else name for name in head]


def _renamed(head: list[str], named: Mapping[str, str]) -> list[str | None]:
    absent = [theirs for theirs in named.values() if theirs not in head]
    if absent:
        raise UnreadableCsv(f"The first line does not name these columns: {', '.join(absent)}.")
    ours = {theirs: name for name, theirs in named.items()}
    return [ours.get(name) for name in head]


def _check(columns: list[str | None], path: Path) -> None:
    names = [name for name in columns if name]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UnreadableCsv(f"These columns are unknown or named twice: {', '.join(twice)}.")
    given = {*names, "domain"} if SHORT_URL in names else set(names)
    missing = [name for name in CREATE_REQUIRED if name not in given]
    if missing:
        raise UnreadableCsv(f"The first line must name the columns; these are missing: {', '.join(missing)}.")


def _rows(columns: list[str | None], head: list[str], lines: Iterable[Line]) -> Iterator[ImportRow]:
    repeats = Repeats()
    for line in lines:
        cells = {name: cell for name, cell in zip(columns, line.cells, strict=False) if name and cell}
        if SHORT_URL in cells:
            cells |= place_of(cells.pop(SHORT_URL))
        if len(line.cells) > len(columns):
            cells[_TOO_MANY] = line.cells[len(columns)]
        yield ImportRow(line.number, cells, repeats.earlier(cells), _left_out(columns, head, line))


def _left_out(columns: list[str | None], head: list[str], line: Line) -> tuple[LeftOut, ...]:
    return tuple(
        LeftOut(name, cell, "no column of ours was given for it")
        for name, ours, cell in zip(head, columns, line.cells, strict=False)
        if ours is None and cell and name not in REPORT_COLUMNS
    )
