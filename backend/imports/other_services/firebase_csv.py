"""CSV exports of Firebase Dynamic Links, with the fields that Google's guide to the export lists.

The guide gives 29 fields by position, without column names. A first line without a link is taken for column
names and skipped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from backend.domain.fields.times.written_times import written_moment
from backend.imports.cells import left_out_of, place_of
from backend.imports.csv_file import Line, UnreadableCsv, read_lines
from backend.imports.other_services.named_apps import NamedApps
from backend.imports.row import IS_ARCHIVED, ImportRow, LeftOut, Repeats

_FIELDS = (
    "short_link", "link", "apn", "afl", "amv", "ibi", "ifl", "ius", "ipfl", "ipbi", "isi", "imv", "efr",
    "ofl", "st", "sd", "si", "utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content", "at",
    "ct", "mt", "pt", "archived", "link_name", "created",
)  # fmt: skip
_COLUMNS = {
    "link": "destination_url",
    "afl": "android_fallback_url",
    "ifl": "ios_fallback_url",
    "ofl": "desktop_url",
    "st": "social_title",
    "sd": "social_description",
    "si": "social_image_url",
    "utm_source": "utm_source",
    "utm_medium": "utm_medium",
    "utm_campaign": "utm_campaign",
    "utm_term": "utm_term",
    "utm_content": "utm_content",
    "link_name": "link_name",
}
_BEHAVIORS = {"apn": "android_behavior", "ibi": "ios_behavior"}
_UNSUPPORTED = {
    "amv": "links do not ask for a version of the app",
    "imv": "links do not ask for a version of the app",
    "ius": "apps are opened by Universal Links, not by a scheme of their own",
    "at": "App Store affiliate parameters are not kept",
    "ct": "App Store affiliate parameters are not kept",
    "mt": "App Store affiliate parameters are not kept",
    "pt": "App Store affiliate parameters are not kept",
}


@dataclass(frozen=True, slots=True)
class FirebaseExport:
    """The rows of an export in Waylink's columns, and the apps that the links of each domain open."""

    rows: list[ImportRow]
    apps: dict[str, NamedApps]


def read_firebase_export(path: Path, domains: Mapping[str, str]) -> FirebaseExport:
    """Read an export file. `domains` maps the old domain of links to the new one. Raises UnreadableCsv."""
    lines = [Line(line.number, _without_empty_end(line.cells)) for line in read_lines(path)]
    if lines and "://" not in lines[0].cells[0]:
        lines = lines[1:]
    if not lines:
        raise UnreadableCsv(f"{path} has no links in it.")
    wrong_line = next((line for line in lines if len(line.cells) != len(_FIELDS)), None)
    if wrong_line:
        raise UnreadableCsv(
            f"Line {wrong_line.number} has {len(wrong_line.cells)} columns; an export of Firebase Dynamic "
            f"Links has {len(_FIELDS)}."
        )
    export = FirebaseExport([], {})
    export.rows.extend(_rows(lines, domains, export.apps))
    return export


def _without_empty_end(cells: list[str]) -> list[str]:
    """The cells without empty ones behind the last field, as spreadsheets add them."""
    return cells if any(cell.strip() for cell in cells[len(_FIELDS) :]) else cells[: len(_FIELDS)]


def _rows(
    lines: Iterable[Line], domains: Mapping[str, str], apps: dict[str, NamedApps]
) -> Iterator[ImportRow]:
    repeats = Repeats()
    for line in lines:
        export_cells = {
            name: cell.strip() for name, cell in zip(_FIELDS, line.cells, strict=True) if cell.strip()
        }
        cells, left_out = _cells(export_cells)
        cells["domain"] = domains.get(cells.get("domain", ""), cells.get("domain", ""))
        _note_apps(apps.setdefault(cells["domain"], NamedApps()), export_cells)
        yield ImportRow(line.number, cells, repeats.earlier(cells), tuple(left_out))


def _cells(export_cells: Mapping[str, str]) -> tuple[dict[str, str], list[LeftOut]]:
    cells = place_of(export_cells.get("short_link", ""))
    cells |= {column: export_cells[name] for name, column in _COLUMNS.items() if name in export_cells}
    # Links made by an app have no name.
    cells.setdefault("link_name", cells.get("selected_path", ""))
    cells |= {column: "2" for name, column in _BEHAVIORS.items() if name in export_cells}
    left_out = [
        LeftOut(name, export_cells[name], reason)
        for name, reason in _UNSUPPORTED.items()
        if name in export_cells
    ]
    left_out += left_out_of(export_cells.get("short_link", ""))
    left_out += _ipad(export_cells)
    if "archived" in export_cells:
        cells[IS_ARCHIVED] = export_cells["archived"]
    if "created" in export_cells:
        moment = written_moment(export_cells["created"])
        if moment:
            cells["created_time"] = moment.isoformat()
        else:
            left_out.append(
                LeftOut("created", export_cells["created"], "the time is in a form that is not known")
            )
    return cells, left_out


def _ipad(export_cells: Mapping[str, str]) -> list[LeftOut]:
    reason = "iPads get what iPhones get"
    same = {"ipfl": "ifl", "ipbi": "ibi"}
    return [
        LeftOut(ipad, export_cells[ipad], reason)
        for ipad, iphone in same.items()
        if export_cells.get(ipad) not in {None, export_cells.get(iphone)}
    ]


def _note_apps(apps: NamedApps, export_cells: Mapping[str, str]) -> None:
    for name, app_ids in (("apn", apps.android), ("ibi", apps.ios), ("isi", apps.app_store)):
        app_ids.update({export_cells[name]} if name in export_cells else ())
