"""PATCH /update-link/{linkId} (contract, "Update link")."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import timedelta
from typing import Any

import httpx
import pytest

from backend.domain.ids import LinkId
from backend.domain.links.links import FALLBACK_FIELDS, TARGET_FIELDS, Behavior, Link
from backend.storage.driver.mongo import Database
from backend.storage.links.links import find_link_at
from tests.api.link_calls import API, create, info, invalid
from tests.conftest import MovableClock, OrganizationFactory
from tests.facts.organizations import TestOrganization

UPDATED = {"message": "Link updated successfully", "status": "success"}
NOT_FOUND = {
    "code": 103,
    "errorMessage": "The requested entity could not be found",
    "error": {
        "errorMessage": "Link not found or does not belong to your organization",
        "fieldName": "LINK_NOT_FOUND",
    },
}
FULL = {
    "ios_behavior": 2,
    "android_behavior": 2,
    "utm_source": "mail",
    "utm_term": "shoes",
    "social_title": "Sale",
    "desktop_url": "https://shop.example/desktop",
    "custom_data": {"a": 1},
}


async def patch(
    client: httpx.AsyncClient, organization: TestOrganization, link_id: LinkId, body: Any
) -> httpx.Response:
    """Send an update-link body."""
    return await client.patch(f"{API}/update-link/{link_id}", json=body, headers=organization.headers)


async def made(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database, **fields: Any
) -> Link:
    """A new link at /sale, as it is stored."""
    await create(client, organization, selected_path="sale", **fields)
    return await stored(organization, database)


async def stored(organization: TestOrganization, database: Database) -> Link:
    """The organization's link at /sale, as it is stored."""
    link = await find_link_at(database, organization.domain, "sale", organization.id)
    assert link is not None
    return link


async def test_the_contract_s_example(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database, clock: MovableClock
) -> None:
    """Fields that are present change, the others do not, and modifiedTime moves."""
    before = await made(client, organization, database, **FULL)
    clock.offset = timedelta(hours=1)
    answer = await patch(
        client,
        organization,
        before.id,
        {"destination_url": "https://shop.example/new", "utm_source": "sms", "utm_medium": "text"},
    )
    assert (answer.status_code, answer.json()) == (200, UPDATED)
    after = await stored(organization, database)
    assert timedelta(minutes=59) < after.modified_at - before.modified_at < timedelta(minutes=61)
    assert after == replace(
        before,
        destination_url="https://shop.example/new",
        utm={"utm_source": "sms", "utm_medium": "text", "utm_term": "shoes"},
        modified_at=after.modified_at,
    )


async def test_every_field_can_change(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """Each field of the table takes its new value."""
    link = await made(client, organization, database)
    texts = {
        name: f"new {name}"
        for name in (
            "link_name",
            "utm_source",
            "utm_medium",
            "utm_campaign",
            "utm_term",
            "utm_content",
            "social_title",
            "social_description",
        )
    }
    urls = {name: f"https://new.example/{name}" for name in (*TARGET_FIELDS, "social_image_url")}
    body = texts | urls | {"ios_behavior": 2, "android_behavior": 2, "custom_data": {"x": [1]}}
    assert (await patch(client, organization, link.id, body)).status_code == 200
    after = await stored(organization, database)
    assert {**after.utm, **after.social, "link_name": after.link_name} == {
        **texts,
        "social_image_url": urls["social_image_url"],
    }
    assert (after.ios_behavior, after.android_behavior) == (Behavior.APP, Behavior.APP)
    assert after.fallbacks == {name: urls[name] for name in FALLBACK_FIELDS}
    assert (after.custom_data, after.destination_url) == ({"x": [1]}, urls["destination_url"])


@pytest.mark.parametrize("same", [True, False])
async def test_nothing_to_change(
    client: httpx.AsyncClient,
    organization: TestOrganization,
    database: Database,
    clock: MovableClock,
    same: bool,
) -> None:
    """An empty body, and values that the link has already, leave modifiedTime as it is."""
    before = await made(client, organization, database, **FULL)
    clock.offset = timedelta(hours=1)
    answer = await patch(client, organization, before.id, FULL if same else {})
    assert (answer.status_code, answer.json()) == (200, UPDATED)
    assert await stored(organization, database) == before


async def test_custom_data_of_another_type(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """JSON tells 1, true and 1.0 apart, which Python takes for the same."""
    link = await made(client, organization, database, custom_data={"new": 1})
    for value in (True, 1.0, 1):
        await patch(client, organization, link.id, {"custom_data": {"new": value}})
        custom_data = (await stored(organization, database)).custom_data
        assert repr(custom_data) == repr({"new": value})


@pytest.mark.parametrize("empty", [None, ""])
async def test_optional_fields_can_be_cleared(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database, empty: str | None
) -> None:
    """Null or the empty text clears an optional field; null puts a behaviour back to the browser."""
    link = await made(client, organization, database, **FULL)
    cleared = ("utm_source", "social_title", "desktop_url", "custom_data")
    body: dict[str, Any] = dict.fromkeys(cleared, empty)
    if empty is None:
        body |= {"ios_behavior": None, "android_behavior": None}
    assert (await patch(client, organization, link.id, body)).status_code == 200
    after = await stored(organization, database)
    assert (after.utm, after.social, after.custom_data) == ({"utm_term": "shoes"}, {}, None)
    assert after.fallbacks == {}
    assert after.ios_behavior == (Behavior.BROWSER if empty is None else Behavior.APP)


BAD: list[tuple[Any, ...]] = [
    ("destination_url", None, "destination_url must be a string"),
    ("destination_url", "", "destination_url must not be empty"),
    ("destination_url", "ftp://a.example", "destination_url must be an absolute http or https URL"),
    ("link_name", None, "link_name must be a string"),
    ("link_name", "", "link_name must not be empty"),
    ("ios_behavior", 0, "ios_behavior must be 1 (open in browser) or 2 (open in app)"),
    ("ios_behavior", True, "ios_behavior must be 1 (open in browser) or 2 (open in app)"),
    ("utm_source", {"$ne": None}, "utm_source must be a string"),
    ("domain", "go.shop.com", "domain can't be changed"),
    ("selected_path", "b", "selected_path can't be changed"),
    ("org_id", "x", "org_id is not a field of this request"),
    ("is_enabled", False, "is_enabled is not a field of this request"),
    ("utm.utm_source", "x", "utm.utm_source is not a field of this request"),
    ("$set", {"org_id": "x"}, "$set is not a field of this request"),
    ("x" * 200, 1, "x" * 100 + " is not a field of this request"),
]


async def test_a_bad_value_changes_nothing(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """One field that is refused keeps the others from changing."""
    before = await made(client, organization, database)
    for field, value, message in BAD:
        answer = await patch(client, organization, before.id, {"utm_term": "new", field: value})
        assert (answer.status_code, answer.json()) == (400, invalid(message))
        assert await stored(organization, database) == before, (field, value)


@pytest.mark.parametrize("field", TARGET_FIELDS)
async def test_a_link_to_itself(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database, field: str
) -> None:
    """A link can't be turned on itself."""
    link = await made(client, organization, database)
    answer = await patch(client, organization, link.id, {field: f"https://{organization.domain}/sale"})
    message = f"{field} must not lead back to the link's own short URL"
    assert (answer.status_code, answer.json()) == (400, invalid(message))


async def test_what_is_no_link_id(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """A linkId that is no UUID is refused before the body is looked at."""
    for link_id in ("1", "0b5d4f3e6a524f4c9d0e5d8ad6a1c0de", "%00", "$where", "ü"):
        answer = await client.patch(
            f"{API}/update-link/{link_id}", content=b"no json", headers=organization.headers
        )
        assert (answer.status_code, answer.json()) == (
            400,
            invalid("Invalid linkId! LinkId is not valid for the organization!"),
        )


async def test_the_body_is_checked_before_the_link(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """A bad body for a link that does not exist is a bad body."""
    answer = await patch(client, organization, LinkId(str(uuid.uuid4())), {"link_name": ""})
    assert answer.status_code == 400


async def test_unknown_and_foreign_links_look_the_same(
    client: httpx.AsyncClient, make_organization: OrganizationFactory
) -> None:
    """A link of another organization can't be told from one that does not exist, and stays as it is."""
    one, other = await make_organization(), await make_organization()
    short_url = await create(client, other)
    before = await info(client, other, short_url)
    for link_id in (str(uuid.uuid4()), before["id"]):
        answer = await patch(client, one, LinkId(link_id), {"link_name": "mine"})
        assert (answer.status_code, answer.json()) == (404, NOT_FOUND)
    assert await info(client, other, short_url) == before
