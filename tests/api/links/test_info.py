"""POST /links/info (contract, "Get link by short URL")."""

from __future__ import annotations

import json
import re
from typing import Any
from uuid import UUID

import httpx
import pytest

from tests.api.link_calls import API, create, info, invalid
from tests.conftest import OrganizationFactory
from tests.facts.organizations import TestOrganization

NO_SHORT_URL = invalid("shortUrl can not be null and empty!")


async def post(
    client: httpx.AsyncClient, organization: TestOrganization, body: dict[str, Any]
) -> httpx.Response:
    """Send a links/info body."""
    return await client.post(f"{API}/links/info", json=body, headers=organization.headers)


async def test_the_contract_s_example(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """A short URL gives its Link object: eight fields, times in whole seconds without zone."""
    short_url = await create(client, organization, selected_path="sale")
    link = await info(client, organization, short_url)
    assert str(UUID(link.pop("id")))
    for name in ("createdTime", "modifiedTime"):
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", link.pop(name))
    assert link == {
        "short_url": f"https://{organization.domain}/sale",
        "destination_url": "https://shop.example/sale",
        "link_name": "Sale",
        "is_enabled": True,
        "org_id": organization.id,
    }


@pytest.mark.parametrize("body", [{}, {"shortUrl": ""}, {"shortUrl": None}, {"shortUrl": " "}])
async def test_no_short_url(
    client: httpx.AsyncClient, organization: TestOrganization, body: dict[str, Any]
) -> None:
    """A missing, null or empty shortUrl has its own sentence."""
    answer = await post(client, organization, body)
    assert (answer.status_code, answer.json()) == (400, NO_SHORT_URL)


def is_client_error(answer: httpx.Response) -> bool:
    """Whether this is the error 139, with its detail sentence as JSON text in fieldName."""
    body = answer.json()
    detail = json.loads(body["error"].pop("fieldName"))
    return (answer.status_code, body, detail) == (
        400,
        {"code": 139, "errorMessage": "Client Error", "error": {"errorMessage": "CLIENT_ERROR"}},
        {"detail": "The short URL was not found for the organization."},
    )


@pytest.mark.parametrize(
    "short_url",
    ["https://go.nobody.example/x", "go.nobody.example/x", "nonsense", "https://a\x00b/c", "a" * 9000],
)
async def test_an_unknown_short_url(
    client: httpx.AsyncClient, organization: TestOrganization, short_url: str
) -> None:
    """A short URL of nobody, or what is none, is not found."""
    assert is_client_error(await post(client, organization, {"shortUrl": short_url}))


async def test_another_organization_s_short_url(
    client: httpx.AsyncClient, make_organization: OrganizationFactory
) -> None:
    """Another organization's short URL looks like one that does not exist."""
    one, other = await make_organization(), await make_organization()
    short_url = await create(client, other)
    assert is_client_error(await post(client, one, {"shortUrl": short_url}))


@pytest.mark.parametrize("value", [1, True, ["https://a.example/b"], {"$ne": None}])
async def test_a_wrong_type(client: httpx.AsyncClient, organization: TestOrganization, value: Any) -> None:
    """A shortUrl that is no text is refused, operators of a database included."""
    answer = await post(client, organization, {"shortUrl": value})
    assert (answer.status_code, answer.json()) == (400, invalid("shortUrl must be a string"))


async def test_what_a_visitor_adds_does_not_matter(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """Query and fragment of a copied short URL, its scheme, and the case of its host are left out."""
    short_url = await create(client, organization, selected_path="sale")
    for written in (f"{short_url}?utm_source=x#y", f"http://{organization.domain.upper()}:8080/sale"):
        assert (await info(client, organization, written))["short_url"] == short_url
