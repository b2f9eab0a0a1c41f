"""POST /links with an external id, which makes a link or brings it up to date."""

from __future__ import annotations

import asyncio
from collections import Counter

import httpx

from tests.api.link_calls import wrong
from tests.api.whole_links import Links
from tests.conftest import MovableClock, OrganizationFactory


async def test_an_upsert(links: Links, clock: MovableClock) -> None:
    """With a known external id its link is brought up to date: 200, one link, what is absent stays."""
    first = await links.post(external_id="sku", utm_source="mail", utm_term="x", selected_path="a")
    clock.offset += clock.offset.resolution * 5_000_000
    second = await links.post(external_id="sku", link_name="New", utm_term=None)
    third = await links.post(external_id="sku", link_name="New")
    assert (first.status_code, second.status_code, third.status_code) == (201, 200, 200)
    expected = first.json() | {"link_name": "New", "utm_term": None}
    assert second.json() == third.json() == expected | {"modified_at": second.json()["modified_at"]}
    assert await links.list() == [second.json()]


async def test_an_upsert_moves_no_link(links: Links) -> None:
    """Where an upsert names another path or domain than the link has, it is refused, and says which."""
    await links.make(external_id="sku", selected_path="a")
    answer = await links.post(external_id="sku", selected_path="b")
    message = "selected_path can't be changed: the link of this external_id has a"
    assert (answer.status_code, answer.json()) == (400, wrong(message))
    assert (await links.post(external_id="sku", selected_path="a")).status_code == 200


async def test_external_ids_belong_to_the_organization(
    client: httpx.AsyncClient, make_organization: OrganizationFactory
) -> None:
    """Two organizations that use the same external id do not meet."""
    for _ in range(2):
        await Links(client, await make_organization()).make(external_id="same")


async def test_upserts_at_once_make_one_link(links: Links) -> None:
    """Of forty upserts of one external id at once one makes the link; the others find it."""
    answers = await asyncio.gather(*(links.post(external_id="sku", link_name=f"{n}") for n in range(40)))
    assert Counter(answer.status_code for answer in answers) == {201: 1, 200: 39}
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert len(await links.list()) == 1


async def test_an_upsert_takes_a_link_out_of_the_archive(links: Links) -> None:
    """Whoever says anew what the link of an external id is, has it again."""
    made = await links.make(external_id="sku")
    await links.call("DELETE", f"/{made['id']}")
    answer = await links.post(external_id="sku")
    assert (answer.status_code, answer.json()["id"], answer.json()["state"]) == (200, made["id"], "enabled")
