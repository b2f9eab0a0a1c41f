"""The form for a rule of a link: converts between its text fields and the rule's JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from backend.dashboard.frame.form import field
from backend.domain.errors import FieldError
from backend.domain.links.rules.input import MOST_VARIANTS
from backend.domain.links.rules.rule_json import RuleJson
from backend.domain.links.rules.words import WEEKDAYS
from backend.domain.web.client import Platform

Fields = dict[str, str]
_LISTS = ("system", "browser", "language", "country")
_TEXTS = ("from", "until")
_HOURS = {"from": "hours_from", "until": "hours_until", "timezone": "timezone"}
_TICKED = "on"
ANY = "any"
PLATFORM_TICKS = {f"platform-{platform.value}": platform.value for platform in Platform}
DAY_TICKS = {f"weekday-{number}": number for number in range(1, len(WEEKDAYS) + 1)}
# The fields of each variant's row, by the names that they have in the rule.
_OF_VARIANT = {"name": "Name", "weight": "Weight", "destination_url": "Address"}


def variant_field(place: int, name: str) -> str:
    """The form's field of a variant (from 0)."""
    return f"variant-{place}-{name}"


VARIANT_LABELS = {
    variant_field(place, name): f"{label} of variant {place + 1}"
    for place in range(MOST_VARIANTS)
    for name, label in _OF_VARIANT.items()
}
NAMES = (
    *PLATFORM_TICKS, *_LISTS, "query", *_TEXTS, "device", *DAY_TICKS, *_HOURS.values(), "destination_url",
    *VARIANT_LABELS,
)  # fmt: skip
EMPTY: Fields = dict.fromkeys(NAMES, "") | {
    variant_field(place, "weight"): "1" for place in range(MOST_VARIANTS)
}
# The field that an error in a rule names, such as rules[0].if.hours.from, which is the form's hours_from.
_VARIANT_PLACE = re.compile(r"rules\[\d+\]\.then\.split\[(\d+)\]\.(\w+)")
_PLACE = re.compile(r"rules\[\d+\]\.(?:if|then)\.(\w+)(?:\.(\w+))?")


def sent_rule_fields() -> Fields:
    """The fields of the current request's form."""
    return {name: field(name) for name in NAMES}


def rule_of(fields: Mapping[str, str]) -> dict[str, Any]:
    """The rule from the form's fields, as JSON; a field that can't be right is left as it was typed."""
    conditions: dict[str, Any] = {
        "platform": [name for tick, name in PLATFORM_TICKS.items() if fields[tick]],
        **{name: [word.strip() for word in fields[name].split(",") if word.strip()] for name in _LISTS},
        "query": _query(fields["query"]),
        **{name: fields[name] for name in _TEXTS},
        "device": "" if fields["device"] == ANY else fields["device"],
        "weekdays": [number for tick, number in DAY_TICKS.items() if fields[tick]],
        "hours": _hours(fields),
    }
    then: dict[str, Any] = {"split": split} if (split := _split(fields)) else {}
    if fields["destination_url"] or not then:
        then |= {"destination_url": fields["destination_url"] or None}
    return {"if": {name: value for name, value in conditions.items() if value}, "then": then}


def fields_of_rule(rule: RuleJson) -> Fields:
    """The text of each field for a rule."""
    conditions, then = rule["if"], rule["then"]
    fields = dict(EMPTY)
    fields |= {
        tick: _TICKED for tick, name in PLATFORM_TICKS.items() if name in conditions.get("platform", ())
    }
    fields |= {name: ", ".join(conditions.get(name, ())) for name in _LISTS}
    fields |= {name: conditions.get(name, "") for name in _TEXTS}
    fields["device"] = conditions.get("device", ANY)
    fields |= {tick: _TICKED for tick, day in DAY_TICKS.items() if day in conditions.get("weekdays", ())}
    hours = conditions.get("hours", {})
    fields |= {name: hours.get(part, "") for part, name in _HOURS.items()}
    parameters = conditions.get("query", {}).items()
    fields["query"] = "\n".join(name if value is None else f"{name}={value}" for name, value in parameters)
    fields["destination_url"] = then.get("destination_url", "")
    for place, variant in enumerate(then.get("split", ())):
        fields |= {variant_field(place, name): str(variant[name]) for name in _OF_VARIANT}
    return fields


def fields_of_test(destination_url: str) -> Fields:
    """The fields of a new A/B test, whose first variant is what visitors get now."""
    names = {variant_field(0, "name"): "A", variant_field(1, "name"): "B"}
    return EMPTY | names | {variant_field(0, "destination_url"): destination_url}


def field_of(error: FieldError, fields: Mapping[str, str]) -> str:
    """The form's field that an error in a rule is about. `fields` are those that the rule was made of."""
    if variant_match := _VARIANT_PLACE.match(error.field):
        place, name = _rows(fields)[int(variant_match[1])], variant_match[2]
        return variant_field(place, name if name in _OF_VARIANT else "name")
    place_match = _PLACE.match(error.field)
    if not place_match:
        return "destination_url"
    name, part = place_match[1], place_match[2]
    if name == "hours":
        return _HOURS.get(part or "", "hours_from")
    return "platform-ios" if name == "platform" else "weekday-1" if name == "weekdays" else name


def _query(text: str) -> dict[str, str | None]:
    pairs = (line.partition("=") for line in text.splitlines() if line.strip())
    return {name.strip(): value.strip() if equals else None for name, equals, value in pairs}


def _hours(fields: Mapping[str, str]) -> dict[str, str]:
    return {part: fields[name] for part, name in _HOURS.items() if fields[name]}


def _rows(fields: Mapping[str, str]) -> list[int]:
    """The rows of variants that are filled in. A row with a weight alone is empty."""
    return [
        place
        for place in range(MOST_VARIANTS)
        if fields[variant_field(place, "name")] or fields[variant_field(place, "destination_url")]
    ]


def _split(fields: Mapping[str, str]) -> list[dict[str, Any]]:
    return [
        {
            "name": fields[variant_field(place, "name")],
            "weight": _weight(fields[variant_field(place, "weight")]),
            "destination_url": fields[variant_field(place, "destination_url")],
        }
        for place in _rows(fields)
    ]


def _weight(text: str) -> int | str:
    """The number; any other text as it is, which the rule then refuses."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 6 else text
