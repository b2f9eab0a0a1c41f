"""An organization's rules for destinations: patterns of addresses that its links may lead to, or not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from backend.domain.errors import InvalidField
from backend.domain.fields.addresses.address_patterns import AddressPattern
from backend.domain.fields.rules import Schema

MOST_PATTERNS = 200


@dataclass(frozen=True, slots=True)
class DestinationRules:
    """An organization's patterns of addresses, each as AddressPattern stores it.

    If there are `allowed` patterns, its links lead only to addresses that fit one of them. They never lead
    to an address that fits a `refused` pattern.
    """

    allowed: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PatternList:
    """The rule for a list of patterns of addresses. A pattern that is there twice is kept once."""

    pattern: AddressPattern

    def parse(self, field: str, value: object) -> tuple[str, ...]:
        """The patterns in their order, in the form in which they are stored. Raises InvalidField."""
        if not isinstance(value, list):
            raise InvalidField(field, "must be a list of addresses")
        places = enumerate(value)
        parsed = dict.fromkeys(self.pattern.parse(f"{field}[{place}]", pattern) for place, pattern in places)
        if len(parsed) > MOST_PATTERNS:
            raise InvalidField(field, f"must have at most {MOST_PATTERNS} patterns")
        return tuple(parsed)

    def schema(self) -> Schema:
        """JSON Schema of the list."""
        return {"type": "array", "items": self.pattern.schema()}


# A refused host is so with every scheme and port; what is allowed is no more than what is written.
RULE_FIELDS: Mapping[str, PatternList] = {
    "allowed": PatternList(AddressPattern(names_origin=True)),
    "refused": PatternList(AddressPattern()),
}


def parse_rules(lists: Mapping[str, Iterable[object]]) -> DestinationRules:
    """The rules in lists of patterns called `allowed` and `refused`. Raises InvalidField."""
    allowed, refused = (rule.parse(name, [*lists.get(name, ())]) for name, rule in RULE_FIELDS.items())
    return DestinationRules(allowed, refused)
