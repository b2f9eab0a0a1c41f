"""POST /serviceCore/app/v1/open: opens of mobile apps."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import httpx
import pytest

from backend.storage.driver.mongo import Database
from tests.api.link_calls import API, create, info, wrong
from tests.conftest import OrganizationFactory
from tests.facts.organizations import TestOrganization

OPEN = "/serviceCore/app/v1/open"


def open_body(**fields: Any) -> dict[str, Any]:
    """The first launch of a new installation."""
    return {"platform": "ios", "install_id": str(uuid.uuid4()), "is_first_launch": True} | fields


async def post(client: httpx.AsyncClient, organization: TestOrganization, body: Any) -> httpx.Response:
    """Report that an app was opened, with this body."""
    return await client.post(OPEN, json=body, headers={"API-KEY": organization.mobile_key})


async def test_an_open_of_a_link(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """The answer says where the link leads, and carries the link's data."""
    short_url = await create(
        client, organization, utm_source="mail", social_title="Sale", custom_data={"room": 5}
    )
    link = await info(client, organization, short_url)
    answer = await post(client, organization, open_body(short_url=short_url))
    assert (answer.status_code, answer.json()) == (
        200,
        {
            "is_new_install": True,
            "is_counted": False,
            "match": "link",
            "destination_url": "https://shop.example/sale",
            "link": {
                "id": link["id"],
                "short_url": short_url,
                "destination_url": "https://shop.example/sale",
                "link_name": "Sale",
                "custom_data": {"room": 5},
                "utm_source": "mail",
                "utm_medium": None,
                "utm_campaign": None,
                "utm_term": None,
                "utm_content": None,
                "social_title": "Sale",
                "social_description": None,
                "social_image_url": None,
            },
        },
    )


async def test_the_ways_to_name_a_link(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """A link is known by its id, its short URL, or the referrer that Google Play passes on."""
    short_url = await create(client, organization)
    link_id = (await info(client, organization, short_url))["id"]
    for reference in (
        {"link_id": link_id},
        {"short_url": f"{short_url}?utm_source=x"},
        {"short_url": f"{short_url}/"},
        {"short_url": f"{short_url})%E2%80%8B"},
        {"short_url": short_url.upper()},
        {"install_referrer": f"utm_source=x&cl_link_id={link_id}"},
        {"link_id": "unknown", "short_url": short_url},
    ):
        answer = await post(client, organization, open_body(platform="android", **reference))
        assert answer.json()["link"]["id"] == link_id


@pytest.mark.parametrize(
    "known",
    [{}, {"link_id": None}, {"short_url": "nonsense"}, {"install_referrer": "&" * 200}, {"link_id": "x"}],
)
async def test_an_organic_open(
    client: httpx.AsyncClient, organization: TestOrganization, known: dict[str, Any]
) -> None:
    """An open that no link led to is recorded, and leads nowhere."""
    answer = await post(client, organization, open_body(**known))
    assert (answer.status_code, answer.json()) == (
        200,
        {
            "is_new_install": True,
            "is_counted": False,
            "match": "none",
            "destination_url": None,
            "link": None,
        },
    )


async def test_an_install_counts_once(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """However often an installation says that it is new, also at the same time, it is new once."""
    body = open_body()
    answers = await asyncio.gather(*(post(client, organization, body) for _ in range(20)))
    assert sum(answer.json()["is_new_install"] for answer in answers) == 1
    later = await post(client, organization, body | {"is_first_launch": False})
    assert later.json()["is_new_install"] is False


@pytest.mark.parametrize("is_same", [True, False])
async def test_an_id_in_capitals_is_the_same_installation(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database, *, is_same: bool
) -> None:
    """Of a UUID, which iOS writes in capitals. Another id is taken as it is."""
    install_id = "7d6a0c5e-52f1-4a0b-9d2e-3b8c1f6a9e04" if is_same else "an id of its own"
    bodies = [open_body(install_id=own_id) for own_id in (install_id, install_id.upper())]
    answers = [(await post(client, organization, body)).json() for body in bodies]
    assert [answer["is_new_install"] for answer in answers] == [True, not is_same]
    own = {"_id": {"$regex": f"^{organization.id}/"}}
    kept = {document["_id"] async for document in database["installs"].find(own)}
    expected = [install_id] if is_same else [install_id, install_id.upper()]
    assert kept == {f"{organization.id}/{own_id}" for own_id in expected}


async def test_install_ids_belong_to_the_organization(
    client: httpx.AsyncClient, make_organization: OrganizationFactory
) -> None:
    """Two organizations' installations with one id are two."""
    body = open_body()
    for organization in (await make_organization(), await make_organization()):
        assert (await post(client, organization, body)).json()["is_new_install"] is True


async def test_another_organization_s_link(
    client: httpx.AsyncClient, make_organization: OrganizationFactory
) -> None:
    """An app is told nothing of another organization's link."""
    one, other = await make_organization(), await make_organization()
    short_url = await create(client, other)
    link_id = (await info(client, other, short_url))["id"]
    for reference in ({"short_url": short_url}, {"link_id": link_id}):
        assert (await post(client, one, open_body(**reference))).json()["link"] is None


async def test_a_disabled_link(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """A disabled link leads nowhere."""
    link = await info(client, organization, await create(client, organization))
    await client.patch(
        f"{API}/links/change-status/{link['id']}", json={"is_enabled": False}, headers=organization.headers
    )
    answer = (await post(client, organization, open_body(link_id=link["id"]))).json()
    assert (answer["destination_url"], answer["link"]) == (None, None)


@pytest.mark.parametrize("limit", ["starts_at", "expires_at"])
async def test_a_link_outside_its_time(
    client: httpx.AsyncClient, organization: TestOrganization, limit: str
) -> None:
    """A link that has not started, or has expired, leads apps nowhere either."""
    link = await info(client, organization, await create(client, organization))
    time = {"starts_at": "2100-01-01T00:00:00Z", "expires_at": "2020-01-01T00:00:00Z"}[limit]
    await client.patch(f"{API}/links/{link['id']}", json={limit: time}, headers=organization.headers)
    answer = (await post(client, organization, open_body(link_id=link["id"]))).json()
    assert (answer["match"], answer["destination_url"], answer["link"]) == ("none", None, None)


@pytest.mark.parametrize("field", ["platform", "install_id", "is_first_launch"])
async def test_a_required_field(
    client: httpx.AsyncClient, organization: TestOrganization, field: str
) -> None:
    """Platform, install id and whether it is the first launch must be told."""
    answer = await post(client, organization, open_body(**{field: None}))
    assert (answer.status_code, answer.json()) == (400, wrong(f"{field} field is required"))


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("platform", "windows", "platform must be one of ios, android"),
        ("platform", {"$ne": 1}, "platform must be one of ios, android"),
        ("install_id", "", "install_id must not be empty"),
        ("install_id", 7, "install_id must be a string"),
        ("install_id", "x" * 129, "install_id must have at most 128 characters"),
        ("install_id", "a\x00", "install_id must not contain control characters"),
        ("is_first_launch", 1, "is_first_launch must be true or false"),
        ("link_id", ["x"], "link_id must be a string"),
        ("open_id", "7", "open_id must be a UUID"),
        ("occurred_at", "today", "occurred_at must be an ISO 8601 time, such as 2026-03-01T12:00:00.000Z"),
    ],
)
async def test_a_bad_value(
    client: httpx.AsyncClient, organization: TestOrganization, field: str, value: Any, message: str
) -> None:
    """A value that breaks its rule is refused with the field and the rule."""
    answer = await post(client, organization, open_body(**{field: value}))
    assert (answer.status_code, answer.json()) == (400, wrong(message))


async def test_only_mobile_keys(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """REST and web keys are not for apps."""
    for headers in ({}, {"API-KEY": organization.rest_key}, {"API-KEY": organization.web_key}):
        answer = await client.post(OPEN, json=open_body(), headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (401, 130)
