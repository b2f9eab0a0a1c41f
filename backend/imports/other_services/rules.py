"""Makes rules of the addresses that another service has for platforms and countries."""

from __future__ import annotations

import json
from typing import Any

from backend.domain.errors import RequestError
from backend.domain.links.input import LINK_RULES
from backend.imports.other_services.foreign_links import ForeignLink, key, whole_characters
from backend.imports.other_services.presets import Preset
from backend.imports.row import RULES, LeftOut

_Rule = dict[str, Any]


def rules_of(link: ForeignLink, preset: Preset) -> tuple[list[_Rule], list[LeftOut]]:
    """The rules of a link, and what can't be a rule, with the reason. One rule is for all countries of an
    address."""
    rules: list[_Rule] = []
    countries: dict[str, list[str]] = {}  # by address
    left_out: list[LeftOut] = []
    for platform, field in preset.by_platform.items():
        if address := link.fields.get(key(field)):
            rule = _rule({"platform": [platform.value]}, address)
            if reason := _why_refused(rule):
                left_out.append(LeftOut(field, address, reason))
            else:
                rules.append(rule)
    by_country = _by_country(link, preset)
    if by_country is None:
        text = link.fields[key(preset.by_country)]
        left_out.append(LeftOut(preset.by_country, text, "it is no JSON object of countries"))
    for country, address in (by_country or {}).items():
        if reason := _why_refused(_rule({"country": [country]}, address)):
            left_out.append(LeftOut(f"{preset.by_country}.{country}", address, reason))
        else:
            countries.setdefault(address, []).append(country)
    return [*rules, *(_rule({"country": names}, address) for address, names in countries.items())], left_out


def _why_refused(rule: _Rule) -> str | None:
    try:
        LINK_RULES.parse(RULES, [rule])
    except RequestError as error:
        return str(error)
    return None


def _rule(condition: dict[str, list[str]], address: str) -> _Rule:
    return {"if": condition, "then": {"destination_url": address}}


def _by_country(link: ForeignLink, preset: Preset) -> dict[str, str] | None:
    """The addresses by country, of an object in JSON, or of a cell with its text; None if it has another."""
    name = key(preset.by_country)
    if not name:
        return {}
    begin = f"{name}."
    found = {field: value for field, value in link.fields.items() if field.startswith(begin)}
    found = {field.removeprefix(begin).upper(): value for field, value in found.items()}
    try:
        whole = json.loads(link.fields.get(name, "{}"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(whole, dict):
        return None
    told = {whole_characters(country): whole_characters(str(address)) for country, address in whole.items()}
    return found | {country.upper(): address for country, address in told.items()}
