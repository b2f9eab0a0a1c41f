"""Rules of a link as sentences that people read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from backend.domain.fields.time_zones import zone_words
from backend.domain.links.rules.rule_json import RuleJson

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_PLATFORMS = {"ios": "iOS", "android": "Android", "desktop": "desktop"}


def condition_in_words(rule: RuleJson) -> str:
    """When the rule fits, such as: If the country is DE or AT, and the device is new."""
    parts = [
        _WORDS[name](value) if name in _WORDS else f"something holds that is not known here ({name})"
        for name, value in rule["if"].items()
    ]
    if not parts:
        return "Always"
    return f"If {', and '.join(parts)}"


def outcome_in_words(rule: RuleJson) -> str:
    """What the rule does then, such as: go to https://shop.example/."""
    parts = rule["then"].get("split")
    if not parts:
        return f"go to {rule['then'].get('destination_url', 'where only a later version knows')}"
    whole = sum(part["weight"] for part in parts)
    shares = [
        f"{100 * part['weight'] / whole:.3g} % to {part['destination_url']} ({part['name']})"
        for part in parts
    ]
    return f"send {_listed(shares, 'and')}"


def _listed(words: Sequence[str], last: str) -> str:
    return f" {last} ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _is_one_of(what: str, names: Mapping[str, str] | None = None) -> Callable[[Sequence[str]], str]:
    labels = names or {}
    return lambda values: f"{what} is {_listed([labels.get(value, value) for value in values], 'or')}"


def _query(parameters: Mapping[str, str | None]) -> str:
    named = [name if value is None else f"{name}={value}" for name, value in parameters.items()]
    return f"the address has {_listed(named, 'and')}"


def _moment(text: str) -> str:
    return f"{datetime.fromisoformat(text):%-d %b %Y, %H:%M} UTC"


def _hours(hours: Mapping[str, str]) -> str:
    zone = zone_words(hours["timezone"], "the rule fits nobody")
    return f"the time in {zone} is from {hours['from']} to {hours['until']}"


_WORDS: Mapping[str, Callable[[Any], str]] = {
    "platform": _is_one_of("the platform", _PLATFORMS),
    "system": _is_one_of("the system"),
    "browser": _is_one_of("the browser"),
    "language": _is_one_of("the language"),
    "country": _is_one_of("the country"),
    "query": _query,
    "from": lambda text: f"it is {_moment(text)} or later",
    "until": lambda text: f"it is before {_moment(text)}",
    "weekdays": lambda days: f"the day is {_listed([WEEKDAYS[day - 1] for day in days], 'or')}",
    "hours": _hours,
    "device": lambda word: "the device is new" if word == "new" else "the device was seen before",
}
