"""/members and /member-invitations over REST."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from backend.domain.accounts.api_keys import KeyKind
from backend.domain.accounts.permissions import EVERYTHING, Permission
from backend.domain.accounts.roles import Role
from backend.storage.accounts.api_keys import create_api_key
from backend.storage.accounts.users.users import list_users
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from tests.api.link_calls import API
from tests.dashboard.people import make_user
from tests.facts.organizations import TestOrganization


async def headers_of(
    database: Database, organization: TestOrganization, scopes: frozenset[Permission]
) -> dict[str, str]:
    """Headers with a new key that has these scopes."""
    ordered = tuple(permission for permission in Permission if permission in scopes)
    text, _ = await create_api_key(database, organization.id, KeyKind.REST, utc_now(), scopes=ordered)
    return {"API-KEY": text}


@pytest.fixture
async def all_powerful(database: Database, organization: TestOrganization) -> dict[str, str]:
    """Headers with a key that has every scope."""
    return await headers_of(database, organization, EVERYTHING)


async def test_members_are_invited_changed_and_removed(
    client: httpx.AsyncClient,
    all_powerful: dict[str, str],
    database: Database,
    organization: TestOrganization,
) -> None:
    """The link of an invitation is shown once; roles and memberships end at once; the last owner stays."""

    async def call(method: str, path: str, body: Any = None) -> httpx.Response:
        return await client.request(method, f"{API}{path}", json=body, headers=all_powerful)

    await make_user(database, organization.id)
    await make_user(database, organization.id, role=Role.VIEWER)
    owner, viewer = sorted(
        await list_users(database, organization.id), key=lambda user: user.role_in(organization.id)
    )
    listed = (await call("GET", "/members")).json()["members"]
    assert {member["id"]: member["role"] for member in listed} == {owner.id: "owner", viewer.id: "viewer"}
    changed = await call("PATCH", f"/members/{viewer.id}", {"role": "editor"})
    assert changed.json() == {"id": viewer.id, "email": viewer.email, "role": "editor"}
    kept = await call("DELETE", f"/members/{owner.id}")
    assert (kept.status_code, kept.json()["error"]["fieldName"]) == (409, "LAST_OWNER")
    assert (await call("DELETE", f"/members/{viewer.id}")).status_code == 204
    assert [user.id for user in await list_users(database, organization.id)] == [owner.id]

    invited = await call("POST", "/member-invitations", {"email": "Ida@Example.com", "role": "viewer"})
    assert invited.status_code == 201
    assert (await client.get(urlsplit(invited.json()["url"]).path)).status_code == 200
    (open_one,) = (await call("GET", "/member-invitations")).json()["invitations"]
    assert (open_one["email"], open_one["invited_by"], "url" in open_one) == (
        "ida@example.com",
        "a key",
        False,
    )
    assert (await call("DELETE", f"/member-invitations/{open_one['id']}")).status_code == 204
    assert (await client.get(urlsplit(invited.json()["url"]).path)).status_code == 410
    taken = await call("POST", "/member-invitations", {"email": owner.email, "role": "viewer"})
    assert (taken.status_code, taken.json()["error"]["fieldName"]) == (400, "email")


async def test_no_key_grants_more_than_it_has(
    client: httpx.AsyncClient, database: Database, organization: TestOrganization
) -> None:
    """Nor does it take such a role away."""
    viewers = Role.VIEWER.permissions | {Permission.MEMBERS_READ, Permission.MEMBERS_WRITE}
    headers = await headers_of(database, organization, viewers)
    await make_user(database, organization.id)
    [owner] = await list_users(database, organization.id)
    for method, path, body in (
        ("POST", "/member-invitations", {"email": "eve@example.com", "role": "owner"}),
        ("PATCH", f"/members/{owner.id}", {"role": "viewer"}),
        ("DELETE", f"/members/{owner.id}", None),
    ):
        answer = await client.request(method, f"{API}{path}", json=body, headers=headers)
        assert (answer.status_code, answer.json()["error"]["fieldName"]) == (403, "ROLE_NOT_GRANTED"), path
