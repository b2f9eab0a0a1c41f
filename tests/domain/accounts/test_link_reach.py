"""Which links a key reaches that is limited to some."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from backend.domain.accounts.api_keys import KeyKind
from backend.domain.accounts.key_input import check_fields
from backend.domain.accounts.permissions import Permission
from backend.domain.accounts.reach.limited_to import LimitedTo
from backend.domain.accounts.reach.link_reach import LinkReach, NoNewLinks
from backend.domain.errors import InvalidField
from backend.domain.ids import LinkId, TagId
from backend.system.clock import utc_now

A, B, C = TagId("a"), TagId("b"), TagId("c")


@dataclass(frozen=True)
class Placed:
    """A link, as far as reach is about it."""

    id: LinkId = LinkId("one")
    domain: str = "go.example"
    tag_ids: list[TagId] = field(default_factory=list)


@pytest.mark.parametrize(
    ("reach", "has"),
    [
        (LinkReach(tags=(A, B)), True),
        (LinkReach(tags=(C,)), False),
        (LinkReach(tags=(A,), domains=("go.example",)), True),
        (LinkReach(tags=(A,), domains=("other.example",)), False),
        (LinkReach(tags=(C,), domains=("go.example",)), False),
        (LinkReach(links=(LinkId("one"), LinkId("two"))), True),
        (LinkReach(links=(LinkId("two"),), tags=(A,)), False),
        (LinkReach(tags=()), False),
        (LinkReach(domains=(), tags=(A,)), False),
        (LinkReach(), False),
    ],
)
def test_a_link_has_one_of_each_kind(reach: LinkReach, has: bool) -> None:
    """Of each kind that limits one must fit; a kind without any, and a reach without kinds, have no link."""
    assert reach.has(Placed(tag_ids=[A])) is has


@pytest.mark.parametrize("stored", [{}, {"tags": None, "domains": None, "links": None}, {"campaigns": ["x"]}])
def test_what_is_stored_never_means_everything(stored: dict[str, Any]) -> None:
    """Neither an empty limit nor one of a kind that this version lacks reaches a link."""
    reach = LinkReach.from_stored(stored)
    assert reach is not None
    assert not reach.has(Placed(tag_ids=[A]))


def test_new_links_come_within_reach() -> None:
    """They get the only tag, must have one of several, and be on one of the domains; single links are all."""
    assert LinkReach(tags=(A,)).new_tags([C]) == [C, A]
    assert LinkReach(tags=(A, B)).new_tags([B]) == [B]
    assert LinkReach(domains=("go.example",)).new_tags([]) == []
    with pytest.raises(InvalidField, match=r"^tags must have one"):
        LinkReach(tags=(A, B)).new_tags([C])
    with pytest.raises(InvalidField, match=r"^domain must be one to which the key is limited: go\.example$"):
        LinkReach(domains=("go.example",)).check_new("other.example")
    for closed in (LinkReach(links=(LinkId("one"),)), LinkReach()):
        with pytest.raises(NoNewLinks):
            closed.check_new("go.example")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "limited_to must be an object"),
        ({}, "limited_to must be an object"),
        ({"campaigns": ["x"]}, "limited_to.campaigns is not a field"),
        ({"tags": []}, "limited_to.tags must be a list of 1 to 100"),
        ({"tags": None, "links": ["x"]}, "limited_to.tags must be a list"),
        ({"links": ["x"]}, r"limited_to.links\[0\] must be a UUID"),
        ({"domains": ["a b"]}, r"limited_to.domains\[0\] "),
    ],
)
def test_a_limit_names_something(value: object, message: str) -> None:
    """What names nothing is refused, with the field: it could be taken for everything."""
    with pytest.raises(InvalidField, match=f"^{message}"):
        LimitedTo().parse("limited_to", value)


@pytest.mark.parametrize(
    ("kind", "scopes", "message"),
    [
        (KeyKind.WEB, None, "limited_to is for keys of the kind rest"),
        (
            KeyKind.REST,
            None,
            "scopes of a key that is limited to links must be some of links:read",
        ),
        (KeyKind.REST, (Permission.LINKS_READ, Permission.FEED_READ), "scopes of a key that is limited"),
    ],
)
def test_which_keys_are_limited(kind: KeyKind, scopes: Any, message: str) -> None:
    """Those of servers with scopes whose operations hold to the limit, and no others."""
    fields = {"limited_to": LinkReach(tags=(A,)), "scopes": scopes}
    with pytest.raises(InvalidField, match=f"^{message}"):
        check_fields(kind, fields, utc_now())
