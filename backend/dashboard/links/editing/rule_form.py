"""The form for a rule of a link: converts between its text fields and the rule's JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from backend.dashboard.frame.form import field
from backend.domain.errors import InvalidField
from backend.domain.links.rule_words import WEEKDAYS
from backend.domain.links.rules import RuleJson
from backend.domain.web.client import Platform

Fields = dict[str, str]
_LISTS = ("system", "browser", "language", "country")
_TEXTS = ("from", "until")
_HOURS = {"from": "hours_from", "until": "hours_until", "timezone": "timezone"}
_TICKED = "on"
ANY = "any"
PLATFORM_TICKS = {f"platform-{platform.value}": platform.value for platform in Platform}
DAY_TICKS = {f"weekday-{number}": number for number in range(1, len(WEEKDAYS) + 1)}
NAMES = (
    *PLATFORM_TICKS, *_LISTS, "query", *_TEXTS, "device", *DAY_TICKS, *_HOURS.values(), "destination_url",
    "split",
)  # fmt: skip
EMPTY: Fields = dict.fromkeys(NAMES, "")
# The field that an error in a rule names, such as rules[0].if.hours.from, which is the form's hours_from.
_PLACE = re.compile(r"rules\[\d+\]\.(?:if|then)\.(\w+)(?:\.(\w+))?")


def sent_rule_fields() -> Fields:
    """The fields of the current request's form."""
    return {name: field(name) for name in NAMES}


def rule_of(fields: Mapping[str, str]) -> dict[str, Any]:
    """The rule from the form's fields, as JSON. Raises InvalidField for a split that can't be read."""
    conditions: dict[str, Any] = {
        "platform": [name for tick, name in PLATFORM_TICKS.items() if fields[tick]],
        **{name: [word.strip() for word in fields[name].split(",") if word.strip()] for name in _LISTS},
        "query": _query(fields["query"]),
        **{name: fields[name] for name in _TEXTS},
        "device": "" if fields["device"] == ANY else fields["device"],
        "weekdays": [number for tick, number in DAY_TICKS.items() if fields[tick]],
        "hours": _hours(fields),
    }
    then = {"split": _split(fields["split"])} if fields["split"] else {}
    if fields["destination_url"] or not then:
        then |= {"destination_url": fields["destination_url"] or None}  # type: ignore[dict-item]
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
    variants = then.get("split", ())
    fields["split"] = "\n".join(
        f"{variant['weight']} {variant['destination_url']} {variant['name']}" for variant in variants
    )
    return fields


def field_of(error: InvalidField) -> str:
    """The form's field that an error in a rule is about."""
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


def _split(text: str) -> list[dict[str, Any]]:
    parts = []
    for line in text.splitlines():
        weight, _, rest = line.strip().partition(" ")
        url, _, name = rest.strip().partition(" ")
        if not (weight.isascii() and weight.isdecimal() and len(weight) < 6 and name.strip()):
            raise InvalidField(
                "rules[0].then.split", "must have lines such as: 50 https://shop.example/a Blue"
            )
        parts.append({"name": name.strip(), "weight": int(weight), "destination_url": url})
    return parts
