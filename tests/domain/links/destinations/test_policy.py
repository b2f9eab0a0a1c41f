"""Where links may lead: an organization's rules and the operator's block list."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from backend.domain.accounts.destination_rules import MOST_PATTERNS, DestinationRules, parse_rules
from backend.domain.errors import InvalidField
from backend.domain.fields.addresses.address_patterns import AddressPatterns
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.destinations.policy import (
    DestinationPolicy,
    allowed_destination,
    refuse_destinations,
)
from backend.domain.links.limits import LinkLimits
from backend.domain.links.links import Link

NOW = datetime(2026, 3, 1, tzinfo=UTC)
LINK = Link(LinkId("l"), OrgId("o"), "go.shop.com", "p", "https://shop.com/a", "A", NOW, NOW)
POLICY = DestinationPolicy.of(DestinationRules(("shop.com",), ("old.shop.com",))).with_blocked(
    AddressPatterns.of(["shop.com/stolen"])
)


@pytest.mark.parametrize(
    ("url", "rule"),
    [
        ("https://www.shop.com/", None),
        ("https://other.com/", "must lead to what the organization's rules allow: shop.com"),
        ("https://old.shop.com/", "must not lead to old.shop.com, which the organization's rules refuse"),
        (
            "https://shop.com/stolen/x",
            "must not lead there: the operator of this service blocks that address",
        ),
    ],
)
def test_one_destination(url: str, rule: str | None) -> None:
    """What fits the allowed ones and no other is allowed; else the field and the rule are named."""
    if rule is None:
        assert allowed_destination("destination_url", url, POLICY) == url
        return
    with pytest.raises(InvalidField) as refused:
        allowed_destination("destination_url", url, POLICY)
    assert (refused.value.field, refused.value.rule) == ("destination_url", rule)


def test_without_rules_everything_is_allowed() -> None:
    """An organization that says nothing is held up by nothing."""
    url = "http://10.0.0.1/"
    assert allowed_destination("destination_url", url, DestinationPolicy.of(DestinationRules())) == url


def test_every_destination_of_a_link_is_asked() -> None:
    """Fallbacks, rules and the last one too; not what was there before: a link can be renamed under rules."""
    elsewhere = replace(LINK, fallbacks={"desktop_url": "https://other.com/"})
    with pytest.raises(InvalidField, match=r"^desktop_url must lead to"):
        refuse_destinations(elsewhere, LINK, POLICY)
    rule = {"if": {}, "then": {"destination_url": "https://other.com/"}}
    with pytest.raises(InvalidField, match=r"^rules\[0\]\.then\.destination_url must lead to"):
        refuse_destinations(replace(LINK, rules=[rule]), LINK, POLICY)
    with pytest.raises(InvalidField, match=r"^expired_url must lead to"):
        refuse_destinations(replace(LINK, limits=LinkLimits(expired_url="https://other.com/")), LINK, POLICY)
    refuse_destinations(replace(elsewhere, link_name="B"), elsewhere, POLICY)
    refuse_destinations(LINK, None, POLICY)


def test_rules_are_read_from_lists() -> None:
    """Each pattern once, and no more than there may be."""
    rules = parse_rules({"allowed": ["Shop.com", "shop.com/"], "refused": []})
    assert rules == DestinationRules(("shop.com",), ())
    with pytest.raises(InvalidField, match=f"^refused must have at most {MOST_PATTERNS} patterns"):
        parse_rules({"refused": [f"{number}.example" for number in range(MOST_PATTERNS + 1)]})
