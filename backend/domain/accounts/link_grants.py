"""Grants: which links an app's key may make, while anybody may read the key out of the app."""

from __future__ import annotations

from dataclasses import dataclass

from backend.domain.accounts.destination_rules import PatternList
from backend.domain.errors import InvalidField, raise_all, unknown_fields
from backend.domain.fields.addresses.address_patterns import AddressPattern, AddressPatterns
from backend.domain.fields.rules import HostName, Schema

# Anybody can read the key: what it may do is said in full, with scheme and port.
DESTINATIONS = PatternList(AddressPattern(names_origin=True, scheme="https"))


@dataclass(frozen=True, slots=True)
class LinkGrant:
    """Links on this domain to addresses that fit one of these patterns, each as `DESTINATIONS` stores it."""

    domain: str
    destinations: tuple[str, ...]

    @classmethod
    def of(cls, domain: object, destinations: object, within: str = "") -> LinkGrant:
        """The grant of these values. Raises InvalidField for `domain` or `destinations`, with `within` before
        the name."""
        patterns = DESTINATIONS.parse(f"{within}destinations", destinations)
        if not patterns:
            rule = "must have at least one address that links may lead to"
            raise InvalidField(f"{within}destinations", rule)
        return cls(HostName().parse(f"{within}domain", domain), patterns)

    def allows(self, url: str) -> bool:
        """Whether links may lead to this web address."""
        return AddressPatterns.of(self.destinations).find(url) is not None


class LinkGrantRule:
    """The rule for a grant: an object with `domain` and `destinations`."""

    def parse(self, field: str, value: object) -> LinkGrant:
        """The grant. Raises InvalidField."""
        if not isinstance(value, dict):
            raise InvalidField(field, "must be an object with domain and destinations")
        raise_all(unknown_fields(value, {"domain", "destinations"}, f"{field}."))
        return LinkGrant.of(value.get("domain"), value.get("destinations"), f"{field}.")

    def schema(self) -> Schema:
        """JSON Schema of the object."""
        return {
            "type": "object",
            "required": ["domain", "destinations"],
            "properties": {
                "domain": HostName().schema(),
                "destinations": DESTINATIONS.schema() | {"minItems": 1},
            },
            "additionalProperties": False,
        }
