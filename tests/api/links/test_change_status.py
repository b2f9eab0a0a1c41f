"""PATCH /links/change-status/{linkId} (contract, "Enable/disable link")."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest

from backend.domain.ids import LinkId
from tests.api.link_calls import API, create, info, invalid, missing
from tests.api.links.test_update import NOT_FOUND
from tests.conftest import MovableClock, OrganizationFactory
from tests.facts.organizations import TestOrganization

CHANGED = {"message": "Link enabled/disabled successfully", "status": "success"}


async def patch(
    client: httpx.AsyncClient, organization: TestOrganization, link_id: LinkId, body: Any
) -> httpx.Response:
    """Send a change-status body."""
    return await client.patch(f"{API}/links/change-status/{link_id}", json=body, headers=organization.headers)


async def test_the_contract_s_example(
    client: httpx.AsyncClient, organization: TestOrganization, clock: MovableClock
) -> None:
    """A link is disabled and enabled again, and modifiedTime moves with each."""
    short_url = await create(client, organization)
    seen = [await info(client, organization, short_url)]
    for is_enabled in (False, True):
        clock.offset += timedelta(hours=1)
        answer = await patch(client, organization, seen[0]["id"], {"is_enabled": is_enabled})
        assert (answer.status_code, answer.json()) == (200, CHANGED)
        seen.append(await info(client, organization, short_url))
    assert [link["is_enabled"] for link in seen] == [True, False, True]
    modified = [datetime.fromisoformat(link["modifiedTime"]) for link in seen]
    assert modified == sorted(set(modified))


async def test_the_same_status(
    client: httpx.AsyncClient, organization: TestOrganization, clock: MovableClock
) -> None:
    """Asking for the status that a link has succeeds, and changes nothing."""
    short_url = await create(client, organization)
    before = await info(client, organization, short_url)
    clock.offset = timedelta(hours=1)
    answer = await patch(client, organization, before["id"], {"is_enabled": True})
    assert (answer.status_code, answer.json()) == (200, CHANGED)
    assert await info(client, organization, short_url) == before


@pytest.mark.parametrize("body", [{}, {"is_enabled": None}, {"isEnabled": True}])
async def test_without_is_enabled(
    client: httpx.AsyncClient, organization: TestOrganization, body: dict[str, Any]
) -> None:
    """is_enabled is required."""
    answer = await patch(client, organization, LinkId(str(uuid.uuid4())), body)
    assert (answer.status_code, answer.json()) == (400, missing("is_enabled"))


@pytest.mark.parametrize("value", [0, 1, "true", "", [], {"$ne": True}])
async def test_what_is_no_boolean(
    client: httpx.AsyncClient, organization: TestOrganization, value: Any
) -> None:
    """Numbers and texts are no booleans."""
    answer = await patch(client, organization, LinkId(str(uuid.uuid4())), {"is_enabled": value})
    assert (answer.status_code, answer.json()) == (400, invalid("is_enabled must be true or false"))


async def test_what_is_no_link_id(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """A linkId that is no UUID is refused before the body is looked at."""
    answer = await patch(client, organization, LinkId("x"), {})
    assert (answer.status_code, answer.json()) == (
        400,
        invalid("Invalid linkId! LinkId is not valid for the organization!"),
    )


async def test_unknown_and_foreign_links_look_the_same(
    client: httpx.AsyncClient, make_organization: OrganizationFactory
) -> None:
    """A link of another organization can't be told from one that does not exist, and stays as it is."""
    one, other = await make_organization(), await make_organization()
    short_url = await create(client, other)
    before = await info(client, other, short_url)
    for link_id in (str(uuid.uuid4()), before["id"]):
        answer = await patch(client, one, LinkId(link_id), {"is_enabled": False})
        assert (answer.status_code, answer.json()) == (404, NOT_FOUND)
    assert await info(client, other, short_url) == before
