"""Where links may lead, by the rules of their organization and by the operator's block list."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from backend.domain.accounts.destination_rules import DestinationRules
from backend.domain.errors import InvalidField
from backend.domain.fields.addresses.address_patterns import AddressPatterns
from backend.domain.fields.addresses.destination_templates import fill_in, sample_of
from backend.domain.links.destinations.forwarding import refuse_unused_path, varying_addresses
from backend.domain.links.links import Link

_MOST_EXAMPLES = 5
# What stands for anything that visitors fill in: no pattern that is not for all of a path has this word.
_ANY_WORD = "any-7f3a91c0"


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
    """Raise InvalidField if the link leads where it may not, and did not lead `before` it was changed.

    An address that visitors fill in has to be allowed whatever they fill in.
    """
    refuse_unused_path(link)
    if policy.refuses_nothing:  # nearly always, and quick to find out
        return
    varying = varying_addresses(link)
    former_urls = set(before.destinations.values()) if before else set()
    if before and before.forwards_path is not link.forwards_path:
        former_urls -= set(varying.values())
    for name, url in link.destinations.items():
        if url not in former_urls:
            allowed_destination(name, url, policy)
            if name in varying:
                _refuse_varying(name, url, policy)


def _refuse_varying(name: str, url: str, policy: DestinationPolicy) -> None:
    """Raise InvalidField if visitors could fill in a path that is not allowed."""
    filled = fill_in(sample_of(url, _ANY_WORD), _ANY_WORD, "", forwards_path=True) or url
    allowed_destination(name, filled, policy)
    if pattern := policy.refused.path_on_host_of(url):
        rule = f"must not leave its path to visitors: the organization's rules refuse {pattern} there"
        raise InvalidField(name, rule)


def leads_to(link: Link, blocked: AddressPatterns) -> bool:
    """Whether any destination of the link fits one of these patterns."""
    return any(blocked.find(url) for url in link.destinations.values())
