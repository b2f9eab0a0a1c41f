"""Grants: which links an app's key may make, while anybody may read the key out of the app."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.domain.accounts.destination_rules import PatternList
from backend.domain.errors import InvalidField
from backend.domain.fields.address_patterns import AddressPatterns
from backend.domain.fields.rules import HostName


@dataclass(frozen=True, slots=True)
class LinkGrant:
    """Links on this domain to addresses that fit one of these patterns, each as AddressPattern stores it."""

    domain: str
    destinations: tuple[str, ...]

    @classmethod
    def of(cls, domain: str, destinations: Sequence[object]) -> LinkGrant:
        """The grant of these values. Raises InvalidField for `domain` or `destinations`."""
        patterns = PatternList().parse("destinations", list(destinations))
        if not patterns:
            raise InvalidField("destinations", "must have at least one address that links may lead to")
        return cls(HostName().parse("domain", domain), patterns)

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any] | None) -> LinkGrant | None:
        """The grant as it was stored; None if there is none."""
        return cls(stored["domain"], tuple(stored["destinations"])) if stored else None

    def allows(self, url: str) -> bool:
        """Whether links may lead to this web address."""
        return AddressPatterns.of(self.destinations).find(url) is not None
