"""The overview: what an organization has, and what it still needs."""

from __future__ import annotations

import re

import httpx

from tests.api.links import create
from tests.dashboard.people import Person
from tests.organizations import TestOrganization
from tests.sdk_batches import Visitor, check


def left_to_do(page: str) -> list[str]:
    """The steps that are not done."""
    return re.findall(r'<li class="">.*?<a href="[^"]+">(.*?)</a>', page, re.DOTALL)


async def test_what_is_left_to_do(
    person: Person, organization: TestOrganization, client: httpx.AsyncClient
) -> None:
    """Each step is ticked off once it is done; the list goes when nothing is left."""
    assert left_to_do((await person.get("/")).text) == ["A first link", "The SDK on your site"]
    await create(client, organization, link_name="The very first")
    page = (await person.get("/")).text
    assert left_to_do(page) == ["The SDK on your site"]
    assert "The very first" in page
    await Visitor(client, organization).result(check())
    assert "What is left to do" not in (await person.get("/")).text
