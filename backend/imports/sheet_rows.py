"""Makes rows to import of a spreadsheet, with what all its links have in common."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from backend.imports.cells import SHORT_URL, place_of
from backend.imports.row import TAGS, ImportRow, Repeats
from backend.imports.spreadsheet import Spreadsheet

_LONGEST_NAME = 1024
_SCHEME = re.compile(r"^(?:https?:)?//", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CommonCells:
    """What links get besides their cells: a domain and UTM fields where a row has none, and more tags."""

    domain: str = ""
    utm: Mapping[str, str] = field(default_factory=dict)
    tags: Sequence[str] = ()


def sheet_rows(sheet: Spreadsheet, common: CommonCells) -> list[ImportRow]:
    """The rows of the sheet in its order. Equal rows are links of their own."""
    repeats = Repeats()
    rows = []
    for line in sheet.lines:
        cells = _completed(sheet.cells_of(line), common)
        rows.append(ImportRow(line.number, cells, repeats.earlier(cells)))
    return rows


def _completed(cells: dict[str, str], common: CommonCells) -> dict[str, str]:
    if SHORT_URL in cells:
        cells |= place_of(cells.pop(SHORT_URL))
    defaults = {**({"domain": common.domain} if common.domain else {}), **common.utm}
    completed = defaults | cells
    if name := _name_of(completed):
        completed.setdefault("link_name", name)
    tags = [*(tag.strip() for tag in cells.get(TAGS, "").split(",")), *common.tags]
    if any(tags):
        completed[TAGS] = ",".join(dict.fromkeys(tag for tag in tags if tag))
    return completed


def _name_of(cells: Mapping[str, str]) -> str:
    """What a link without a name is called: its path, else the address that it leads to."""
    name = cells.get("selected_path") or _SCHEME.sub("", cells.get("destination_url", ""))
    return name[:_LONGEST_NAME].strip()
