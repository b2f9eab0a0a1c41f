"""POST /analytics (contract, "Click analytics")."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import httpx
import pytest

from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from tests.api.link_calls import API, create, info, invalid
from tests.conftest import MovableClock, OrganizationFactory
from tests.facts.clicks import click, ship
from tests.facts.organizations import TestOrganization

UNKNOWN = {
    "code": 103,
    "errorMessage": "The requested entity could not be found",
    "error": {
        "errorMessage": "Invalid link details. We were unable to retrieve analytics for the provided link. "
        "Please verify the information and try again.",
        "fieldName": "INVALID_VALUE",
    },
}
EMPTY = {
    "code": 101,
    "errorMessage": "There was one or more validation error(s)",
    "errors": [
        {
            "errorMessage": "REQUIRED_FIELD_MISSING",
            "fieldName": "Both shortUrl and linkId are empty. One of them must be given.",
        }
    ],
}


async def post(
    client: httpx.AsyncClient, organization: TestOrganization, body: dict[str, Any]
) -> httpx.Response:
    """Send an analytics body."""
    return await client.post(f"{API}/analytics", json=body, headers=organization.headers)


async def test_the_contract_s_example(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """A link without clicks has three zeros, by its short URL and by its id."""
    short_url = await create(client, organization)
    link_id = (await info(client, organization, short_url))["id"]
    for body in ({"shortUrl": short_url}, {"linkId": link_id}, {"linkId": link_id.upper(), "shortUrl": ""}):
        answer = await post(client, organization, body)
        assert (answer.status_code, answer.json()) == (
            200,
            {"clicks_last_30_days": 0, "clicks_last_7_days": 0, "total_clicks": 0},
        )


async def test_a_click_leaves_the_windows_at_the_second(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database, clock: MovableClock
) -> None:
    """A click counts for 7 and for 30 days, to the second, and in the total for ever."""
    link_id = (await info(client, organization, await create(client, organization)))["id"]
    clicked = utc_now().replace(microsecond=0)
    await ship(database, [click(organization.id, link_id, clicked)])
    seen = []
    for age in (
        timedelta(seconds=1),
        timedelta(days=7, seconds=-60),
        timedelta(days=7, seconds=1),
        timedelta(days=30, seconds=-60),
        timedelta(days=30, seconds=1),
        timedelta(days=4000),
    ):
        clock.offset = clicked + age - utc_now()
        counts = (await post(client, organization, {"linkId": link_id})).json()
        seen.append((counts["clicks_last_7_days"], counts["clicks_last_30_days"], counts["total_clicks"]))
    assert seen == [(1, 1, 1), (1, 1, 1), (0, 1, 1), (0, 1, 1), (0, 0, 1), (0, 0, 1)]


async def test_the_id_wins(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """Where both are given, linkId names the link."""
    one, other = await create(client, organization), await create(client, organization)
    link_id = (await info(client, organization, one))["id"]
    await ship(database, [click(organization.id, link_id, utc_now())])
    answer = await post(client, organization, {"linkId": link_id, "shortUrl": other})
    assert answer.json()["total_clicks"] == 1


@pytest.mark.parametrize(
    "body", [{}, {"shortUrl": ""}, {"linkId": None}, {"linkId": " ", "shortUrl": ""}, {"link_id": "x"}]
)
async def test_neither(
    client: httpx.AsyncClient, organization: TestOrganization, body: dict[str, Any]
) -> None:
    """Without both the error has shape B."""
    answer = await post(client, organization, body)
    assert (answer.status_code, answer.json()) == (400, EMPTY)


@pytest.mark.parametrize(
    "body",
    [
        {"linkId": str(uuid.uuid4())},
        {"linkId": "not-a-uuid"},
        {"shortUrl": "https://go.nobody.example/x"},
        {"shortUrl": "nonsense"},
    ],
)
async def test_an_unknown_link(
    client: httpx.AsyncClient, organization: TestOrganization, body: dict[str, Any]
) -> None:
    """Details that name no link have the contract's sentence."""
    answer = await post(client, organization, body)
    assert (answer.status_code, answer.json()) == (400, UNKNOWN)


async def test_another_organization_s_link(
    client: httpx.AsyncClient, make_organization: OrganizationFactory
) -> None:
    """Another organization's link looks like one that does not exist."""
    one, other = await make_organization(), await make_organization()
    short_url = await create(client, other)
    link_id = (await info(client, other, short_url))["id"]
    for body in ({"shortUrl": short_url}, {"linkId": link_id}):
        answer = await post(client, one, body)
        assert (answer.status_code, answer.json()) == (400, UNKNOWN)


@pytest.mark.parametrize("field", ["linkId", "shortUrl"])
@pytest.mark.parametrize("value", [1, False, [], {"$gt": ""}])
async def test_a_wrong_type(
    client: httpx.AsyncClient, organization: TestOrganization, field: str, value: Any
) -> None:
    """What is no text is refused by name, operators of a database included."""
    answer = await post(client, organization, {field: value})
    assert (answer.status_code, answer.json()) == (400, invalid(f"{field} must be a string"))
