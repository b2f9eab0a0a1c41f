"""CSV exports of Firebase Dynamic Links, with the fields that Google's guide to the export lists.

The guide gives 29 fields by position, without column names. A first line without a link is taken for column
names and skipped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from backend.imports.cells import place_of
from backend.imports.csv_file import Line, UnreadableCsv, read_lines
from backend.imports.named_apps import NamedApps
from backend.imports.row import ImportRow, LeftOut, Repeats, parse_moment

_FIELDS = (
    "short_link", "link", "apn", "afl", "amv", "ibi", "ifl", "ius", "ipfl", "ipbi", "isi", "imv", "efr",
    "ofl", "st", "sd", "si", "utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content", "at",
    "ct", "mt", "pt", "archived", "link_name", "created",
)  # fmt: skip
_TAKEN_OVER = {
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
_NO_PLACE = {
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
    lines = read_lines(path)
    if lines and "://" not in lines[0].cells[0]:
        lines = lines[1:]
    if not lines:
        raise UnreadableCsv(f"{path} has no links in it.")
    wrong = next((line for line in lines if len(line.cells) != len(_FIELDS)), None)
    if wrong:
        raise UnreadableCsv(
            f"Line {wrong.number} has {len(wrong.cells)} columns; an export of Firebase Dynamic Links "
            f"has {len(_FIELDS)}."
        )
    export = FirebaseExport([], {})
    export.rows.extend(_rows(lines, domains, export.apps))
    return export


def _rows(
    lines: Iterable[Line], domains: Mapping[str, str], apps: dict[str, NamedApps]
) -> Iterator[ImportRow]:
    repeats = Repeats()
    for line in lines:
        theirs = {name: cell.strip() for name, cell in zip(_FIELDS, line.cells, strict=True) if cell.strip()}
        cells, left_out = _cells(theirs)
        cells["domain"] = domains.get(cells.get("domain", ""), cells.get("domain", ""))
        _note_apps(apps.setdefault(cells["domain"], NamedApps()), theirs)
        yield ImportRow(line.number, cells, repeats.earlier(cells), tuple(left_out))


def _cells(theirs: Mapping[str, str]) -> tuple[dict[str, str], list[LeftOut]]:
    cells = place_of(theirs.get("short_link", ""))
    cells |= {ours: theirs[name] for name, ours in _TAKEN_OVER.items() if name in theirs}
    # Links made by an app have no name.
    cells.setdefault("link_name", cells.get("selected_path", ""))
    cells |= {ours: "2" for name, ours in _BEHAVIORS.items() if name in theirs}
    left_out = [LeftOut(name, theirs[name], reason) for name, reason in _NO_PLACE.items() if name in theirs]
    left_out += _ipad(theirs)
    if "archived" in theirs:
        cells["is_disabled"] = theirs["archived"]
    if "created" in theirs:
        moment = parse_moment(theirs["created"])
        if moment:
            cells["created_time"] = moment.isoformat()
        else:
            left_out.append(LeftOut("created", theirs["created"], "the time is in a form that is not known"))
    return cells, left_out


def _ipad(theirs: Mapping[str, str]) -> list[LeftOut]:
    reason = "iPads get what iPhones get"
    same = {"ipfl": "ifl", "ipbi": "ibi"}
    return [
        LeftOut(ipad, theirs[ipad], reason)
        for ipad, iphone in same.items()
        if theirs.get(ipad) not in {None, theirs.get(iphone)}
    ]


def _note_apps(apps: NamedApps, theirs: Mapping[str, str]) -> None:
    for name, noted in (("apn", apps.android), ("ibi", apps.ios), ("isi", apps.app_store)):
        noted.update({theirs[name]} if name in theirs else ())
