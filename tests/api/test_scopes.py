"""What scopes let a key do, over every operation, whichever they are."""

from __future__ import annotations

import re
import uuid
from typing import Any

import httpx
import pytest

from backend.domain.accounts.permissions import EVERYTHING, WITHOUT_SCOPES, Permission
from backend.rest_api.openapi.operations import OPERATIONS
from backend.rest_api.routes.blueprint import API_ROOT
from backend.rest_api.routes.operation import Operation
from backend.storage.driver.mongo import Database
from tests.facts.organizations import TestOrganization, make_scoped_key

BINDING = ("links:read", "links:write", "analytics:read", "sales:write", "feed:read", "persons:write")


async def ask(client: httpx.AsyncClient, operation: Operation, key: str) -> httpx.Response:
    """The answer to a request for something that is not there, with an empty body."""
    path = API_ROOT + re.sub("<[^>]+>", str(uuid.uuid4()), operation.path)
    body: dict[str, Any] = {} if operation.method == "GET" else {"json": {}}
    return await client.request(operation.method, path, headers={"API-KEY": key}, **body)


def is_scope_error(answer: httpx.Response) -> bool:
    """Whether it refuses the key for a scope that it lacks."""
    return answer.status_code == 403 and answer.json()["error"]["fieldName"] == "SCOPE_MISSING"


@pytest.fixture
async def key_without(database: Database, organization: TestOrganization) -> dict[Permission, str]:
    """For each permission a key that has all others."""
    return {
        lacking: await make_scoped_key(database, organization, {*EVERYTHING} - {lacking})
        for lacking in Permission
    }


async def test_every_operation_needs_each_scope_that_it_names(
    client: httpx.AsyncClient, key_without: dict[Permission, str]
) -> None:
    """A key that has all scopes but one that the operation needs is refused, in shape A, and told which."""
    for operation in OPERATIONS:
        assert operation.needs, operation.endpoint
        for needed in operation.needs:
            answer = await ask(client, operation, key_without[needed])
            assert answer.status_code == 403, operation.endpoint
            body = answer.json()
            assert (body["code"], body["error"]["fieldName"]) == (403, "SCOPE_MISSING")
            assert f"scope {needed.value};" in body["error"]["errorMessage"]
            assert "RateLimit-Limit" in answer.headers


async def test_every_operation_is_content_with_what_it_names(
    client: httpx.AsyncClient, database: Database, organization: TestOrganization
) -> None:
    """A key with just the scopes that an operation names gets further than to its scopes."""
    keys: dict[frozenset[Permission], str] = {}
    for operation in OPERATIONS:
        needed = frozenset(operation.needs)
        if needed not in keys:
            keys[needed] = await make_scoped_key(database, organization, {*needed})
        assert not is_scope_error(await ask(client, operation, keys[needed])), operation.endpoint


async def test_keys_of_the_contract_do_what_they_did(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """A key without scopes may do all but what came with scopes: keys, members, archives, the audit log."""
    for operation in OPERATIONS:
        refused = is_scope_error(await ask(client, operation, organization.rest_key))
        assert refused is not WITHOUT_SCOPES.issuperset(operation.needs), operation.endpoint


def test_binding_names() -> None:
    """The scopes that the specification names are there."""
    assert set(BINDING) <= {permission.value for permission in Permission}
