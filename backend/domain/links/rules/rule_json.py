"""Rules of a link as they are kept: as the JSON in which they were given, in the one form of `input`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from backend.domain.web.client import Platform

# A rule as JSON: {"if": {<condition>: ...}, "then": {"destination_url": ...} or {"split": [...]}}.
RuleJson = Mapping[str, Any]


def rule_targets(rules: Sequence[RuleJson], platform: Platform | None = None) -> dict[str, str]:
    """All web addresses that rules lead to, by the name of the field.

    With `platform`, only those to which a visitor on this platform may be led.
    """
    return {
        f"rules[{number}].then.{name}": url
        for number, rule in enumerate(rules)
        if platform is None or platform in rule["if"].get("platform", [platform])
        for name, url in _addresses(rule["then"])
    }


def variant_names(rules: Sequence[RuleJson]) -> set[str]:
    """The names of all parts of the rules' splits."""
    return {part["name"] for rule in rules for part in rule["then"].get("split", ())}


def _addresses(then: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if "destination_url" in then:
        yield "destination_url", then["destination_url"]
    for place, part in enumerate(then.get("split", ())):
        yield f"split[{place}].destination_url", part["destination_url"]
