"""What a link passes on of the query and the path that visitors add."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backend.domain.accounts.destination_rules import DestinationRules
from backend.domain.errors import InvalidField
from backend.domain.links.destinations.forwarding import Forwarding, as_followed, filled_in
from backend.domain.links.destinations.policy import DestinationPolicy, refuse_destinations
from backend.domain.links.links import Link
from backend.domain.links.path_prefixes import path_prefixes
from tests.domain.links.destinations.test_web_address import link_to

PLAIN = link_to("https://shop.example/x")


def passed(link: Link, query: str) -> str:
    """What the link passes on of a query."""
    forwarding = Forwarding.of(link)
    assert forwarding
    return forwarding.passed(query)


def test_links_of_before_pass_on_everything() -> None:
    """A link without any of this needs no look at what visitors add."""
    assert Forwarding.of(PLAIN) is None
    assert as_followed(PLAIN, "a", "b=1") is PLAIN


def test_named_parameters() -> None:
    """Only they are passed on, as they were sent; an empty list passes none; what an address takes is not
    passed on besides."""
    query = "ref=1&x=2&re%66=3&ref&y"
    assert passed(replace(PLAIN, forwards_query=["ref"]), query) == "ref=1&re%66=3&ref"
    assert passed(replace(PLAIN, forwards_query=[]), query) == ""
    assert passed(link_to("https://shop.example/{query.ref}"), query) == "x=2&y"
    rules = [{"if": {}, "then": {"destination_url": "https://shop.example/{query.x}"}}]
    assert passed(replace(PLAIN, rules=rules), query) == "ref=1&re%66=3&ref&y"


def test_fallbacks_are_filled_in_too() -> None:
    """All addresses but the one for late visitors; the path becomes what was asked for."""
    link = replace(PLAIN, forwards_path=True, fallbacks={"desktop_url": "https://d.example/?p={path}"})
    filled = filled_in(link, "a/b", "")
    assert filled
    assert (filled.destination_url, filled.path) == ("https://shop.example/x/a/b", "a/a/b")
    assert filled.fallbacks == {"desktop_url": "https://d.example/?p=a%2Fb"}
    assert (
        filled_in(replace(link, fallbacks={"desktop_url": "https://d.example/{query.a}"}), "", "a=..") is None
    )


def test_a_path_is_forwarded_where_an_address_takes_it() -> None:
    """An address with {path} of a link that does not forward it is refused, with the field's name."""
    link = link_to("https://shop.example/{path}")
    with pytest.raises(InvalidField, match="forwards_path"):
        refuse_destinations(link, None, DestinationPolicy())
    refuse_destinations(replace(link, forwards_path=True), None, DestinationPolicy())


@pytest.mark.parametrize(
    ("url", "forwards_path", "allowed", "refused", "is_refused"),
    [
        ("https://shop.example/{path}", True, ["shop.example"], [], False),
        ("https://shop.example/{path}", True, ["shop.example/sale"], [], True),
        ("https://shop.example/sale/{path}", True, ["shop.example/sale"], [], False),
        ("https://shop.example/sale", True, ["shop.example/sale"], [], False),
        ("https://shop.example/sale?q={query.a}", False, ["shop.example/sale"], [], False),
        ("https://shop.example/sale{query.a}", False, ["shop.example/sale"], [], True),
        ("https://shop.example/{path}", True, [], ["shop.example/admin"], True),
        ("https://shop.example/sale", True, [], ["shop.example/admin"], True),
        ("https://shop.example/sale", False, [], ["shop.example/admin"], False),
    ],
)
def test_rules_hold_whatever_visitors_fill_in(
    url: str, forwards_path: bool, allowed: list[str], refused: list[str], is_refused: bool
) -> None:
    """An organization's rules for destinations refuse what visitors could lead past them."""
    policy = DestinationPolicy.of(DestinationRules(tuple(allowed), tuple(refused)))
    link = replace(link_to(url), forwards_path=forwards_path)
    if is_refused:
        with pytest.raises(InvalidField):
            refuse_destinations(link, None, policy)
    else:
        refuse_destinations(link, None, policy)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/a/b/c", [("a/b", "c"), ("a", "b/c")]),
        ("/a/", [("a", "")]),
        ("/%61/b%20c", [("a", "b%20c")]),
        ("/a%20b/c", []),
        ("/a", []),
        ("/", []),
        ("//a", []),
        ("/a//b", []),
        ("/a/../b", []),
        ("/a/%2e%2E/b", []),
        ("/a/b%2Fc", []),
        ("/a/b%5cc", []),
        ("/a/b%0d", []),
        ("/a/%", []),
        ("/a/ü", []),
        ("/a/" + "b" * 2048, []),
    ],
)
def test_beginnings_of_a_path(path: str, expected: list[tuple[str, str]]) -> None:
    """What may be a link's path, the longest first, and what follows it."""
    assert path_prefixes(path.encode()) == expected


def test_a_long_path_has_few_beginnings() -> None:
    """As many as a link's path can have segments."""
    assert len(path_prefixes(b"/a" * 500)) == 8
