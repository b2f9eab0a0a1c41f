"""Reads a file of another service into rows, by what a preset says of its fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from backend.imports.cells import SHORT_URL, Defaults, parse_defaults, place_of, settled
from backend.imports.foreign_links import ForeignLink, UnreadableLinks, key, read_foreign_links
from backend.imports.presets import Preset
from backend.imports.row import HAS_PASSWORD, TAGS, ImportRow, LeftOut, Repeats, parse_moment

# What a flag says that is not set, and a state that is the usual one.
_NOTHING_SPECIAL = {"false", "no", "0", "active"}
# Services don't ask for a name; the path is one.
_NAME = {"link_name": "{path}"}


def read_preset(
    path: Path, preset: Preset, moved: Mapping[str, str], defaults: Mapping[str, str]
) -> list[ImportRow]:
    """The rows of a service's file: JSON of its API, or CSV.

    `moved` maps old domains to new ones; `defaults` are templates for missing cells. Raises UnreadableCsv,
    UnreadableLinks and InvalidTemplate before anything is imported.
    """
    links = read_foreign_links(path, preset.list_at)
    _check(links, preset, defaults)
    names = {name for link in links for name in link.names.values()}
    templates = parse_defaults(_NAME | dict(defaults), names)
    return list(_rows(links, preset, moved, templates))


def _check(links: list[ForeignLink], preset: Preset, defaults: Mapping[str, str]) -> None:
    """Refuse a file in which no link has a destination, or none has a short URL."""
    has = {ours for link in links for ours in _found(link, preset)}
    if "destination_url" not in has or not has & {SHORT_URL, "selected_path"}:
        names = sorted({name for link in links[:100] for name in link.names.values()})
        theirs = " or ".join(preset.named[SHORT_URL]), " or ".join(preset.named["destination_url"])
        raise UnreadableLinks(
            f"These are no links of {preset.service}: none has {theirs[0]}, and {theirs[1]}. "
            f"The file's fields are: {', '.join(names[:30])}. `waylink import csv --column` takes any names."
        )
    if SHORT_URL not in has and "domain" not in defaults:
        raise UnreadableLinks(
            "The file has paths without their domain. Say which it is: --default domain=go.shop.com"
        )


def _rows(
    links: list[ForeignLink], preset: Preset, moved: Mapping[str, str], defaults: Defaults
) -> Iterator[ImportRow]:
    repeats = Repeats()
    for link in links:
        found = _found(link, preset)
        left_out = [
            *_left_out(link, preset),
            *_unknown_time(found),
            *_without_password(found),
            *_used_up(found),
        ]
        theirs = {link.names[name]: value for name, value in link.fields.items()}
        places, shared = _places(link, preset, found, moved)
        for place in places or [{}]:
            cells = settled({**found, **place}, theirs, defaults, moved)
            if "imported_clicks" in cells:
                cells.setdefault("imported_from", preset.service)
            yield ImportRow(link.number, cells, repeats.earlier(cells), (*left_out, *shared))
            left_out, shared = [], []  # told once


def _found(link: ForeignLink, preset: Preset) -> dict[str, str]:
    """The link's values in our columns."""
    found: dict[str, str] = {}
    for ours, theirs in preset.named.items():
        flag = preset.only_with.get(ours)
        if flag and link.fields.get(key(flag), "").lower() != "true":
            continue
        value = next((link.fields[key(name)] for name in theirs if key(name) in link.fields), None)
        if value is not None:
            found[ours] = value.strip("/") if ours == "selected_path" else value
    if TAGS in found:
        found[TAGS] = found[TAGS].replace(preset.between_tags, ",")
    return found


def _places(
    link: ForeignLink, preset: Preset, found: dict[str, str], moved: Mapping[str, str]
) -> tuple[list[dict[str, str]], list[LeftOut]]:
    """Every domain and path that the link has; taken out of `found`.

    A place on a host that only the service can serve is left out, where the link has others.
    """
    urls = [found.pop(SHORT_URL)] if SHORT_URL in found else []
    more = link.fields.get(key(preset.more_places), "") or link.fields.get("customlink", "")
    urls += [each.strip() for each in more.split(",") if preset.more_places and each.strip()]
    places = {url: place_of(url) for url in urls}
    lost = [
        url
        for url, place in places.items()
        if place["domain"] in preset.shared_hosts and place["domain"] not in moved
    ]
    if len(lost) == len(places):
        lost = []
    host = f"only {preset.service} can serve its own domain"
    return (
        [place for url, place in places.items() if url not in lost],
        [LeftOut(SHORT_URL, url, host) for url in lost],
    )


def _unknown_time(found: dict[str, str]) -> list[LeftOut]:
    """Bring the time of creation into our form; a form that is not known is taken out, and told."""
    text = found.pop("created_time", None)
    if text is None:
        return []
    moment = parse_moment(text)
    if moment is None:
        return [LeftOut("created_time", text, "the time is in a form that is not known")]
    found["created_time"] = moment.isoformat()
    return []


def _without_password(found: dict[str, str]) -> list[LeftOut]:
    """Of a password that is not in the file itself, only its flag is kept; it is told."""
    is_hash = found.get("password", "").startswith("$")
    if is_hash:
        del found["password"]
        found[HAS_PASSWORD] = "true"
    if found.get(HAS_PASSWORD, "false").lower() in _NOTHING_SPECIAL or "password" in found:
        return []
    return [LeftOut("password", "(set)", "the file does not have it: the link is disabled until it gets one")]


def _used_up(found: Mapping[str, str]) -> list[LeftOut]:
    """A limit of clicks that was reached there is told: the link is disabled."""
    most, clicks = found.get("max_clicks", ""), found.get("imported_clicks", "")
    if not (most.isdecimal() and clicks.isdecimal()) or int(clicks) < int(most):
        return []
    return [LeftOut("max_clicks", most, "all of these clicks were used up: the link is disabled")]


def _left_out(link: ForeignLink, preset: Preset) -> list[LeftOut]:
    reasons = {key(name): reason for name, reason in preset.no_place.items()}
    used = {key(name) for theirs in preset.named.values() for name in theirs} | set(map(key, preset.silent))
    left_out = []
    for name, value in link.fields.items():
        whole = name.partition(".")[0]  # what holds of an object, such as `geo`, holds of its fields
        if not {name, whole} & used and value.lower() not in _NOTHING_SPECIAL:
            reason = reasons.get(name) or reasons.get(whole, "not known to this import")
            # A secret is not copied into one more file.
            left_out.append(LeftOut(link.names[name], "(set)" if name == "password" else value, reason))
    return left_out
