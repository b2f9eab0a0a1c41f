"""Requests that wait to be stored in groups: each organization has room of its own."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from backend.concurrency.group_commit import GroupCommit
from tests.api.link_calls import API, link_body
from tests.conftest import OrganizationFactory
from tests.facts.organizations import TestOrganization


@pytest.fixture(autouse=True)
def groups_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups wait for others for longer than in operation, so that all of a test's requests wait together."""
    monkeypatch.setattr(GroupCommit, "GATHER", 0.5)


async def post_at_once(
    client: httpx.AsyncClient, path: str, *bodies: tuple[TestOrganization, dict[str, Any]]
) -> list[httpx.Response]:
    """The answers to these requests of organizations, which come together."""
    return await asyncio.gather(
        *(
            client.post(f"{API}{path}", json=body, headers=organization.headers)
            for organization, body in bodies
        )
    )


async def test_an_organization_that_sends_too_many_is_refused_alone(
    client: httpx.AsyncClient, make_organization: OrganizationFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of its requests as many are stored as may wait, the others are told to come again; another
    organization's are stored."""
    monkeypatch.setattr(GroupCommit, "MOST_WAITING", 3)
    busy, other = await make_organization(), await make_organization()
    requests = [(busy, link_body(busy)) for _ in range(5)] + [(other, link_body(other))]
    *of_busy, of_other = await post_at_once(client, "/links", *requests)
    assert sorted(answer.status_code for answer in of_busy) == [201] * 3 + [503] * 2
    assert {answer.headers.get("Retry-After") for answer in of_busy if answer.status_code == 503} == {"5"}
    assert of_other.status_code == 201


async def test_large_requests_have_room_by_their_bytes(
    client: httpx.AsyncClient, make_organization: OrganizationFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few large requests fill an organization's room, and no other's."""
    monkeypatch.setattr(GroupCommit, "MOST_BYTES_WAITING", 100_000)
    busy, other = await make_organization(), await make_organization()
    many = {"items": [{"customer_id": "ada", "name": "x" * 60} for _ in range(500)]}
    one = {"customer_id": "ada", "name": "shipped"}
    *of_busy, of_other = await post_at_once(client, "/events", *[(busy, many)] * 4, (other, one))
    assert sorted(answer.status_code for answer in of_busy) == [200] * 2 + [503] * 2
    assert of_other.status_code == 200
