"""Answers have the contract's fields in the contract's order: integrators compare them byte for byte."""

from __future__ import annotations

import httpx
import pytest

from tests.api.link_calls import API, create, info, link_body
from tests.facts.organizations import TestOrganization

LINK = [
    "id",
    "short_url",
    "destination_url",
    "link_name",
    "is_enabled",
    "createdTime",
    "modifiedTime",
    "org_id",
]


async def test_created(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """The success envelope of create-link."""
    body = link_body(organization, selected_path="a")
    answer = await client.post(f"{API}/create-link", json=body, headers=organization.headers)
    assert answer.text == (
        '{"status":"success","message":"Link created successfully",'
        f'"short_url":"https://{organization.domain}/a"}}\n'
    )


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        ("update-link", {"link_name": "B"}, "Link updated successfully"),
        ("links/change-status", {"is_enabled": False}, "Link enabled/disabled successfully"),
    ],
)
async def test_changed(
    client: httpx.AsyncClient,
    organization: TestOrganization,
    path: str,
    body: dict[str, object],
    message: str,
) -> None:
    """The success envelopes of update-link and change-status."""
    link = await info(client, organization, await create(client, organization))
    answer = await client.patch(f"{API}/{path}/{link['id']}", json=body, headers=organization.headers)
    assert answer.text == f'{{"message":"{message}","status":"success"}}\n'


async def test_link_and_page(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """The Link object and the Pagination object."""
    link = await info(client, organization, await create(client, organization))
    page = (await client.get(f"{API}/links/page", headers=organization.headers)).json()
    assert list(link) == list(page["links"][0]) == LINK
    assert list(page) == ["links", "pagination"]
    assert list(page["pagination"]) == ["current_page", "page_size", "total_items", "total_pages"]


async def test_errors(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """Errors have the contract's fields in its order, also where several are told at once."""
    missing = await client.get(f"{API}/links/page")
    assert missing.text == (
        '{"code":130,"errorMessage":"Authorization Failed!",'
        '"error":{"errorMessage":"\'API-KEY\' missing","fieldName":"UNAUTHORIZED_ACCESS"}}\n'
    )
    empty = (await client.post(f"{API}/analytics", json={}, headers=organization.headers)).json()
    assert list(empty) == ["code", "errorMessage", "errors"]
    assert list(empty["errors"][0]) == ["errorMessage", "fieldName"]
