"""The API-KEY header (contract, "Authentication")."""

from __future__ import annotations

from datetime import timedelta
from itertools import product
from typing import Any

import httpx
import pytest

from backend.storage.accounts.api_keys import list_api_keys, revoke_api_key
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from tests.api.link_calls import API
from tests.conftest import MovableClock
from tests.facts.organizations import TestOrganization
from tests.polling import wait_for_async


def unauthorized(message: str) -> dict[str, Any]:
    """The body of a 401."""
    return {
        "code": 130,
        "errorMessage": "Authorization Failed!",
        "error": {"errorMessage": message, "fieldName": "UNAUTHORIZED_ACCESS"},
    }


CALLS = [
    ("POST", "/create-link"),
    ("PATCH", "/update-link/0b5d4f3e-6a52-4f4c-9d0e-5d8ad6a1c0de"),
    ("PATCH", "/links/change-status/0b5d4f3e-6a52-4f4c-9d0e-5d8ad6a1c0de"),
    ("POST", "/links/info"),
    ("GET", "/links/page"),
    ("POST", "/analytics"),
]


@pytest.mark.parametrize(("method", "path"), CALLS)
@pytest.mark.parametrize("headers", [{}, {"API-KEY": ""}])
async def test_without_a_key(
    client: httpx.AsyncClient, method: str, path: str, headers: dict[str, str]
) -> None:
    """A request without a key is refused before anything else is looked at."""
    answer = await client.request(method, API + path, headers=headers, content=b"not json")
    assert (answer.status_code, answer.json()) == (401, unauthorized("'API-KEY' missing"))


async def test_with_a_key_that_is_not_valid_here(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """Unknown keys, and those of other kinds, are invalid; create-link says so in its own words."""
    unknown, altered = "c_api_" + "x" * 32, organization.rest_key[:-1] + "~"
    keys = (unknown, organization.mobile_key, organization.web_key, "\xff c_api_", altered)
    for (method, path), key in product(CALLS, keys):
        answer = await client.request(method, API + path, headers={b"API-KEY": key.encode("latin-1")})
        message = "Invalid API-KEY" if path == "/create-link" else "Invalid Api Key"
        assert (answer.status_code, answer.json()) == (401, unauthorized(message)), (path, key)


async def test_a_revoked_key_stops_within_seconds(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """A key that was just used stops working within seconds of being revoked by another process."""
    assert (await client.get(f"{API}/links/page", headers=organization.headers)).status_code == 200
    key = next(k for k in await list_api_keys(database, organization.id) if k.kind.value == "rest")
    await revoke_api_key(database, key.id, key.org_id, utc_now())
    answer = await wait_for_async(
        lambda: client.get(f"{API}/links/page", headers=organization.headers),
        "the key still works",
        lambda answer: answer.status_code != 200,
        seconds=10,
    )
    assert (answer.status_code, answer.json()) == (401, unauthorized("Invalid Api Key"))


async def test_the_use_of_a_key_is_noted_by_the_service_s_clock(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database, clock: MovableClock
) -> None:
    """A key says when it was used last."""
    clock.offset = timedelta(days=3)
    assert (await client.get(f"{API}/links/page", headers=organization.headers)).status_code == 200
    used = {key.kind.value: key.last_used_at for key in await list_api_keys(database, organization.id)}
    assert used["web"] is None
    assert used["rest"]
    assert abs(used["rest"] - clock()) < timedelta(minutes=5)
