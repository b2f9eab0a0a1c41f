"""Reads a file of another service into rows, by a preset for its fields."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from backend.domain.fields.times.written_times import written_moment
from backend.imports.cells import SHORT_URL, Defaults, completed_cells, left_out_of, parse_defaults, place_of
from backend.imports.other_services.foreign_links import ForeignLink, UnreadableLinks, key, read_foreign_links
from backend.imports.other_services.presets import Preset
from backend.imports.other_services.rules import rules_of
from backend.imports.row import HAS_PASSWORD, RULES, TAGS, ImportRow, LeftOut, Repeats

# The values of a flag that is not set, and of the usual state.
_NOTHING_SPECIAL = {"false", "no", "0", "active"}
# Services don't ask for a name; the path is one.
_NAME = {"link_name": "{path}"}


def read_preset(
    path: Path, preset: Preset, new_domains: Mapping[str, str], defaults: Mapping[str, str]
) -> list[ImportRow]:
    """The rows of a service's file: JSON of its API, or CSV.

    `new_domains` maps old domains to new ones; `defaults` are templates for missing cells. Raises
    UnreadableCsv, UnreadableLinks and InvalidTemplate before anything is imported.
    """
    links = read_foreign_links(path, preset.list_at)
    _check(links, preset, defaults)
    names = {name for link in links for name in link.names.values()}
    templates = parse_defaults(_NAME | dict(defaults), names)
    return list(_rows(links, preset, new_domains, templates))


def _check(links: list[ForeignLink], preset: Preset, defaults: Mapping[str, str]) -> None:
    """Refuse a file in which no link has a destination, or none has a short URL."""
    present = {column for link in links for column in _cells(link, preset)}
    if "destination_url" not in present or not present & {SHORT_URL, "selected_path"}:
        names = sorted({name for link in links[:100] for name in link.names.values()})
        required = " or ".join(preset.named[SHORT_URL]), " or ".join(preset.named["destination_url"])
        raise UnreadableLinks(
            f"These are no links of {preset.service}: none has {required[0]}, and {required[1]}. "
            f"The file's fields are: {', '.join(names[:30])}. `waylink import csv --column` takes any names."
        )
    if SHORT_URL not in present and "domain" not in defaults:
        raise UnreadableLinks(
            "The file has paths without their domain. Say which it is: --default domain=go.shop.com"
        )


def _rows(
    links: list[ForeignLink], preset: Preset, new_domains: Mapping[str, str], defaults: Defaults
) -> Iterator[ImportRow]:
    repeats = Repeats()
    for link in links:
        cells = _cells(link, preset)
        left_out = [
            *_left_out(link, preset),
            *_take_tags(link, preset, cells),
            *_take_rules(link, preset, cells),
            *_unknown_time(cells),
            *_without_password(cells),
            *_used_up(cells),
        ]
        file_cells = {link.names[name]: value for name, value in link.fields.items()}
        places, shared = _places(link, preset, cells, new_domains)
        for place in places or [{}]:
            row_cells = completed_cells({**cells, **place}, file_cells, defaults, new_domains)
            if "imported_clicks" in row_cells:
                row_cells.setdefault("imported_from", preset.service)
            yield ImportRow(link.number, row_cells, repeats.earlier(row_cells), (*left_out, *shared))
            left_out, shared = [], []  # reported once for the link


def _cells(link: ForeignLink, preset: Preset) -> dict[str, str]:
    """The link's values in our columns."""
    cells: dict[str, str] = {}
    for column, names in preset.named.items():
        flag = preset.only_with.get(column)
        if flag and link.fields.get(key(flag), "").lower() != "true":
            continue
        value = next((link.fields[key(name)] for name in names if key(name) in link.fields), None)
        if value is not None:
            cells[column] = value.strip("/") if column == "selected_path" else value
    return cells


def _take_tags(link: ForeignLink, preset: Preset, cells: dict[str, str]) -> list[LeftOut]:
    """Bring the tags into our form. Remove those with a comma in their names, and return them as left out."""
    if TAGS not in cells:
        return []
    name = next(name for name in map(key, preset.named[TAGS]) if name in link.fields)
    tags = [tag.strip() for tag in link.lists.get(name) or cells[TAGS].split(preset.between_tags)]
    cells[TAGS] = ",".join(tag for tag in tags if "," not in tag)
    return [LeftOut(TAGS, tag, "no name of a tag has a comma") for tag in tags if "," in tag]


def _take_rules(link: ForeignLink, preset: Preset, cells: dict[str, str]) -> list[LeftOut]:
    """Make rules of addresses for platforms and countries. Returns those that can't be rules as left out."""
    rules, left_out = rules_of(link, preset)
    if rules:
        cells[RULES] = json.dumps(rules)
    return left_out


def _places(
    link: ForeignLink, preset: Preset, cells: dict[str, str], new_domains: Mapping[str, str]
) -> tuple[list[dict[str, str]], list[LeftOut]]:
    """The domains and paths of the link, and those that are left out. Removes the short URL from `cells`.

    A short URL on a host that only the service can serve is left out if the link has others.
    """
    urls = [cells.pop(SHORT_URL)] if SHORT_URL in cells else []
    more_urls = link.fields.get(key(preset.more_places), "") or link.fields.get("customlink", "")
    urls += [url.strip() for url in more_urls.split(",") if preset.more_places and url.strip()]
    places = {url: place_of(url) for url in urls}
    left_out = [
        url
        for url, place in places.items()
        if place["domain"] in preset.shared_hosts and place["domain"] not in new_domains
    ]
    if len(left_out) == len(places):
        left_out = []
    reason = f"only {preset.service} can serve its own domain"
    kept = [url for url in places if url not in left_out]
    return (
        [places[url] for url in kept],
        [
            *(LeftOut(SHORT_URL, url, reason) for url in left_out),
            *(part for url in kept for part in left_out_of(url)),
        ],
    )


def _unknown_time(cells: dict[str, str]) -> list[LeftOut]:
    """Bring the time of creation into our form. Remove a time in another form, and return it as left out."""
    text = cells.pop("created_time", None)
    if text is None:
        return []
    moment = written_moment(text)
    if moment is None:
        return [LeftOut("created_time", text, "the time is in a form that is not known")]
    cells["created_time"] = moment.isoformat()
    return []


def _without_password(cells: dict[str, str]) -> list[LeftOut]:
    """Keep only a flag for a password that the file lacks or has as a hash, and return it as left out."""
    is_hash = cells.get("password", "").startswith("$")
    if is_hash:
        del cells["password"]
        cells[HAS_PASSWORD] = "true"
    if cells.get(HAS_PASSWORD, "false").lower() in _NOTHING_SPECIAL or "password" in cells:
        return []
    return [LeftOut("password", "(set)", "the file does not have it: the link is disabled until it gets one")]


def _used_up(cells: Mapping[str, str]) -> list[LeftOut]:
    """Return a limit of clicks that was reached as left out, since the link is disabled."""
    most, clicks = cells.get("max_clicks", ""), cells.get("imported_clicks", "")
    if not (most.isdecimal() and clicks.isdecimal()) or int(clicks) < int(most):
        return []
    return [LeftOut("max_clicks", most, "all of these clicks were used up: the link is disabled")]


def _left_out(link: ForeignLink, preset: Preset) -> list[LeftOut]:
    reasons = {key(name): reason for name, reason in preset.no_place.items()}
    told_if_false = {key(name): reason for name, reason in preset.told_if_false.items()}
    used = {key(name) for names in preset.named.values() for name in names} | set(map(key, preset.silent))
    used |= set(map(key, (*preset.by_platform.values(), preset.by_country)))
    left_out = []
    for name, value in link.fields.items():
        top_level = name.partition(".")[0]  # fields of an object, such as `geo`, follow the object
        if name in told_if_false:
            if value.lower() == "false":
                left_out.append(LeftOut(link.names[name], value, told_if_false[name]))
        elif not {name, top_level} & used and value.lower() not in _NOTHING_SPECIAL:
            reason = reasons.get(name) or reasons.get(top_level, "not known to this import")
            # A secret is not copied into one more file.
            left_out.append(LeftOut(link.names[name], "(set)" if name == "password" else value, reason))
    return left_out
