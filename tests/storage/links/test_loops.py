"""The search for loops of links, in which others' writes may wait."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from backend.domain.ids import LinkId, OrgId
from backend.domain.links.input import NEW_LINK_FIELDS, parse_new_link
from backend.domain.links.limits import LinkLimits
from backend.domain.links.links import CreatedBy, Link
from backend.storage.driver.mongo import Database
from backend.storage.links.writing.loops import DomainPath, looping_field

DOMAIN = "go.example"
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def link_to(path: str, *targets: str) -> Link:
    """A link that leads to these paths of the same domain: the first without a rule, the others by rules."""
    first, *others = (f"https://{DOMAIN}/{target}" for target in targets)
    splits = [
        {"then": {"split": [
            {"name": str(number), "weight": 1, "destination_url": url}
            for number, url in enumerate(others[begin : begin + 10])
        ]}}
        for begin in range(0, len(others), 10)
    ]  # fmt: skip
    body = {"domain": DOMAIN, "selected_path": path, "link_name": path, "destination_url": first}
    new = parse_new_link(body | ({"rules": splits} if splits else {}), NEW_LINK_FIELDS)
    return new.to_link(path, link_id=LinkId(path), org_id=OrgId("o"), created_by=CreatedBy.PERSON, now=NOW)


@pytest.mark.parametrize("loops", [True, False])
async def test_links_of_a_step_are_read_together(database: Database, loops: bool) -> None:
    """A link that leads to many is searched in a few questions, and its loop through one of them is found."""
    many = [f"page-{number}" for number in range(51)]
    stored = {(DOMAIN, path): link_to(path, f"{path}/next") for path in many}
    stored[DOMAIN, "page-50/next"] = link_to("page-50/next", "first" if loops else "nowhere")
    asked: list[Set[DomainPath]] = []

    async def resolve(places: Set[DomainPath]) -> Mapping[DomainPath, Link]:
        asked.append(places)
        return {place: stored[place] for place in places & stored.keys()}

    found = await looping_field(database, link_to("first", *many), resolve)
    assert (found is not None) == loops
    assert len(asked) <= 5


def forwarding(path: str, expired: str, forwards: bool = True) -> Link:
    """A link that passes on what follows its path, and leads to this path of the domain once it has ended."""
    link = replace(link_to(path, "out"), destination_url="https://shop.example", forwards_path=forwards)
    return replace(link, limits=LinkLimits(expired_url=f"https://{DOMAIN}/{expired}"))


@pytest.mark.parametrize(
    ("link", "others", "field"),
    [
        (forwarding("a", "a/x"), [], "expired_url"),
        (forwarding("a", "a/x/%C3%BC?y"), [], "expired_url"),
        (forwarding("a", "b/../a/x"), [], "expired_url"),
        (forwarding("a", "b/x"), [forwarding("b", "a/x")], "expired_url"),
        (forwarding("a", "b"), [link_to("b", "a/x/y")], "expired_url"),
        (link_to("b", "a/x"), [forwarding("a", "b")], "destination_url"),
        (forwarding("a", "a/x"), [link_to("a/x", "b")], None),
        (forwarding("a", "a/x", forwards=False), [], None),
        (forwarding("a", "a/x", forwards=False), [forwarding("a", "a/x")], None),
        (forwarding("a", "a/b/x"), [forwarding("a/b", "out")], None),
        (forwarding("a", "ab/x"), [], None),
    ],
)
async def test_loops_below_links_that_pass_on_a_path(
    database: Database, link: Link, others: list[Link], field: str | None
) -> None:
    """What no link has itself leads to the nearest link above that passes on the rest: maybe back."""
    stored = {(other.domain, other.path): other for other in others}

    async def resolve(places: Set[DomainPath]) -> Mapping[DomainPath, Link]:
        return {place: stored[place] for place in places & stored.keys()}

    assert await looping_field(database, link, resolve) == field
