"""An identity provider that tells an organization's people and groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx

from backend.domain.accounts.api_keys import KeyKind
from backend.domain.accounts.roles import Role
from backend.domain.accounts.single_sign_on.group_roles import GroupRole, GroupRoles
from backend.domain.accounts.users import User
from backend.domain.ids import OrgId
from backend.storage.accounts.api_keys import create_api_key
from backend.storage.accounts.single_sign_on.settings import set_group_roles
from backend.storage.accounts.users.users import find_user_by_email
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now

USER = "urn:ietf:params:scim:schemas:core:2.0:User"
GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group"
PATCH_OP = "urn:ietf:params:scim:api:messages:2.0:PatchOp"
ERROR = "urn:ietf:params:scim:api:messages:2.0:Error"


@dataclass(frozen=True, slots=True)
class IdentityProvider:
    """A provider with a token of one organization."""

    client: httpx.AsyncClient
    token: str

    async def call(self, method: str, path: str, body: object = None, **headers: str) -> httpx.Response:
        """A call with the token. Names of headers are written with `_`."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        allowed = {"Authorization": f"Bearer {self.token}"} | named
        return await self.client.request(method, f"/scim/v2{path}", json=body, headers=allowed)

    async def user(self, user_name: str, **fields: object) -> dict[str, Any]:
        """Tell a new user."""
        answer = await self.call("POST", "/Users", {"schemas": [USER], "userName": user_name} | fields)
        assert answer.status_code == 201, answer.text
        return answer.json()  # type: ignore[no-any-return]

    async def group(self, name: str, *members: dict[str, Any]) -> dict[str, Any]:
        """Tell a new group with these users in it."""
        body = {
            "schemas": [GROUP],
            "displayName": name,
            "members": [{"value": user["id"]} for user in members],
        }
        answer = await self.call("POST", "/Groups", body)
        assert answer.status_code == 201, answer.text
        return answer.json()  # type: ignore[no-any-return]

    async def read(self, resource: dict[str, Any]) -> dict[str, Any]:
        """A resource as it is now."""
        answer = await self.call("GET", f"/{resource['meta']['resourceType']}s/{resource['id']}")
        assert answer.status_code == 200, answer.text
        return answer.json()  # type: ignore[no-any-return]

    async def patch(self, resource: dict[str, Any], *operations: dict[str, Any]) -> httpx.Response:
        """Change a resource by these operations."""
        path = f"/{resource['meta']['resourceType']}s/{resource['id']}"
        return await self.call("PATCH", path, {"schemas": [PATCH_OP], "Operations": list(operations)})

    async def set_active(self, user: dict[str, Any], is_active: bool) -> httpx.Response:
        """Shut a user out, or let them in again."""
        return await self.patch(user, {"op": "replace", "path": "active", "value": is_active})

    async def find(self, kind: str, scim_filter: str) -> httpx.Response:
        """Search for users or groups."""
        query = httpx.QueryParams({"filter": scim_filter})
        return await self.call("GET", f"/{kind}?{query}")


async def connect(
    client: httpx.AsyncClient, database: Database, org_id: OrgId, **roles: Role
) -> IdentityProvider:
    """A provider of the organization, whose groups of these names give these roles; others are viewers."""
    mapping = tuple(GroupRole(group, role) for group, role in roles.items())
    await set_group_roles(database, org_id, GroupRoles(mapping, Role.VIEWER))
    token, _ = await create_api_key(database, org_id, KeyKind.SCIM, utc_now())
    return IdentityProvider(client, token)


async def account(database: Database, email: str) -> User:
    """The account with this address."""
    user = await find_user_by_email(database, email)
    assert user is not None
    return user
