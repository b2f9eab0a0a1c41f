"""Links that would send their visitors round for ever (decisions, "destination_url")."""

from __future__ import annotations

import itertools
from typing import Any

import httpx
import pytest

from backend.domain.links.links import TARGET_FIELDS
from tests.api.link_calls import API, create, info, invalid, link_body
from tests.facts.organizations import TestOrganization

ELSEWHERE = "https://shop.example/"


async def refused(client: httpx.AsyncClient, organization: TestOrganization, **fields: Any) -> str:
    """The first field that a new link is refused for; it must be one that leads back."""
    body = link_body(organization, **fields)
    answer = await client.post(f"{API}/create-link", json=body, headers=organization.headers)
    name: str = answer.json()["error"]["errorMessage"].partition(" ")[0]
    message = f"{name} must not lead back to the link's own short URL"
    assert (answer.status_code, answer.json()) == (400, invalid(message))
    return name


async def change(
    client: httpx.AsyncClient, organization: TestOrganization, short_url: str, **fields: Any
) -> httpx.Response:
    """Send an update of a link."""
    link_id = (await info(client, organization, short_url))["id"]
    return await client.patch(f"{API}/update-link/{link_id}", json=fields, headers=organization.headers)


@pytest.mark.parametrize("path", ["l%6Fop", "x/../loop", "%2E/loop", "x/%2e%2E/loop?a=b"])
async def test_a_path_written_in_another_way(
    client: httpx.AsyncClient, organization: TestOrganization, path: str
) -> None:
    """What browsers and the redirector read as the link's own path leads back to it."""
    url = f"https://{organization.domain}/{path}"
    assert await refused(client, organization, selected_path="loop", destination_url=url) == "destination_url"
    made = await create(client, organization, selected_path="loop")
    assert (await change(client, organization, made, destination_url=url)).status_code == 400


async def test_a_pair(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """Two links are refused where one visitor would go from each to the other, over whichever fields; where
    the fields are for different visitors, both are made."""
    open_app = {"ios_behavior": 2, "android_behavior": 2}
    base = f"https://{organization.domain}"
    fallbacks = dict.fromkeys(TARGET_FIELDS, ELSEWHERE)
    for number, (there, back) in enumerate(itertools.product(TARGET_FIELDS, repeat=2)):
        one, other = f"a{number}", f"b{number}"
        target = {there: f"{base}/{other}"}
        await create(client, organization, selected_path=one, **fallbacks | open_app | target)
        fields = fallbacks | open_app | {"selected_path": other, back: f"{base}/{one}"}
        if there == back:
            assert await refused(client, organization, **fields) == back
        else:
            await create(client, organization, **fields)


async def test_a_pair_over_a_destination_and_a_fallback(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """A desktop goes to the second link by the first one's desktop_url, and back by the destination."""
    base = f"https://{organization.domain}"
    await create(client, organization, selected_path="a", destination_url=ELSEWHERE, desktop_url=f"{base}/b")
    assert (
        await refused(client, organization, selected_path="b", destination_url=f"{base}/a")
        == "destination_url"
    )


async def test_a_longer_chain(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """A chain of five is refused at the link that closes it, also by an update, and a change of behavior."""
    base = f"https://{organization.domain}"
    for number in range(4):
        fields = {"ios_fallback_url": f"{base}/{number + 1}", "ios_behavior": 2}
        await create(client, organization, selected_path=str(number), **fields)
    assert await refused(client, organization, selected_path="4", destination_url=f"{base}/0")
    last = await create(
        client,
        organization,
        selected_path="4",
        ios_fallback_url=ELSEWHERE,
        destination_url=f"{base}/0",
        ios_behavior=2,
    )
    assert (await change(client, organization, last, ios_behavior=1)).status_code == 400
    assert (await change(client, organization, last, ios_fallback_url=None)).status_code == 400
    assert (await change(client, organization, last, desktop_url=f"{base}/2")).status_code == 200


async def test_a_link_in_a_loop_can_be_changed_in_other_fields(
    client: httpx.AsyncClient, organization: TestOrganization, service: Any
) -> None:
    """A loop that was stored before this was checked keeps nobody from renaming its link."""
    made = await create(client, organization, selected_path="a")
    await service.resources.database["links"].update_one(
        {"org_id": organization.id}, {"$set": {"destination_url": made}}
    )
    assert (await change(client, organization, made, link_name="Renamed")).status_code == 200


async def test_many_ways_are_not_searched_without_end(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """Links that each lead two ways are taken for a loop when there are too many of them."""
    base = f"https://{organization.domain}"
    for number in range(1, 64):
        await create(
            client,
            organization,
            selected_path=str(number),
            destination_url=f"{base}/{2 * number}" if number < 32 else ELSEWHERE,
            ios_fallback_url=f"{base}/{2 * number + 1}" if number < 32 else ELSEWHERE,
        )
    assert await refused(client, organization, selected_path="new", destination_url=f"{base}/1")


async def test_a_user_name_in_an_address(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """An address that looks as if it led to one host and leads to another is refused."""
    users = ("accounts.google.com", "a:b", "", "%61")
    for field, user in itertools.product([*TARGET_FIELDS, "social_image_url"], users):
        body = link_body(organization) | {field: f"https://{user}@evil.test/"}
        answer = await client.post(f"{API}/create-link", json=body, headers=organization.headers)
        message = f"{field} must not contain a user name or password before its host"
        assert (answer.status_code, answer.json()) == (400, invalid(message))
    assert await create(client, organization, destination_url="https://shop.example/@ada?mail=a@b.example#@")
