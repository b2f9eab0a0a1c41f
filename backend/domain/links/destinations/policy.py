"""Where links may lead, by the rules of their organization and by the operator's block list."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from backend.domain.accounts.destination_rules import DestinationRules
from backend.domain.errors import InvalidField
from backend.domain.fields.address_patterns import AddressPatterns
from backend.domain.links.links import Link

_MOST_EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class DestinationPolicy:
    """The rules for the destinations of an organization's links, in a form for quick look-ups."""

    allowed: AddressPatterns = field(default_factory=AddressPatterns)
    refused: AddressPatterns = field(default_factory=AddressPatterns)
    blocked: AddressPatterns = field(default_factory=AddressPatterns)
    # The first allowed patterns, which error messages name.
    examples: tuple[str, ...] = ()

    @property
    def refuses_nothing(self) -> bool:
        """Whether links may lead anywhere."""
        return not (self.blocked or self.refused or self.allowed)

    @classmethod
    def of(cls, rules: DestinationRules) -> DestinationPolicy:
        """The policy of an organization with these rules, where the operator blocks nothing."""
        allowed, refused = AddressPatterns.of(rules.allowed), AddressPatterns.of(rules.refused)
        return cls(allowed, refused, examples=rules.allowed[:_MOST_EXAMPLES])

    def with_blocked(self, blocked: AddressPatterns) -> DestinationPolicy:
        """This policy where the operator has this block list."""
        return self if blocked is self.blocked else replace(self, blocked=blocked)


def allowed_destination(name: str, url: str, policy: DestinationPolicy) -> str:
    """The address, if a link may lead there. Raises InvalidField that names the field and the rule."""
    if policy.blocked.find(url):
        raise InvalidField(name, "must not lead there: the operator of this service blocks that address")
    if pattern := policy.refused.find(url):
        raise InvalidField(name, f"must not lead to {pattern}, which the organization's rules refuse")
    if policy.allowed and not policy.allowed.find(url):
        more = ", …" if len(policy.allowed) > len(policy.examples) else ""
        raise InvalidField(
            name, f"must lead to what the organization's rules allow: {', '.join(policy.examples)}{more}"
        )
    return url


def refuse_destinations(link: Link, before: Link | None, policy: DestinationPolicy) -> None:
    """Raise InvalidField if the link leads where it may not, and did not lead `before` it was changed."""
    if policy.refuses_nothing:  # nearly always, and quick to find out
        return
    former_urls = set(before.destinations.values()) if before else set()
    for name, url in link.destinations.items():
        if url not in former_urls:
            allowed_destination(name, url, policy)


def leads_to(link: Link, blocked: AddressPatterns) -> bool:
    """Whether any destination of the link fits one of these patterns."""
    return any(blocked.find(url) for url in link.destinations.values())
