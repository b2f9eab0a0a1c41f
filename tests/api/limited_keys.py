"""Keys that are limited to some links, and calls with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx

from backend.domain.accounts.api_keys import KeyKind
from backend.domain.accounts.permissions import OF_LIMITED_KEYS, Permission
from backend.storage.accounts.api_keys import create_api_key
from backend.storage.driver.mongo import Database
from backend.storage.links.tags import find_reach
from backend.system.clock import utc_now
from tests.api.link_calls import API, link_body
from tests.facts.organizations import TestOrganization


@dataclass(frozen=True, slots=True)
class LimitedKey:
    """A key that is limited to some links, and has every scope that such a key may have."""

    client: httpx.AsyncClient
    organization: TestOrganization
    key: str

    async def call(self, method: str, path: str, body: object = None, **headers: str) -> httpx.Response:
        """A call with the key."""
        headers |= {"API-KEY": self.key}
        return await self.client.request(method, f"{API}{path}", json=body, headers=headers)

    async def make(self, **fields: Any) -> httpx.Response:
        """POST /links with the required fields and these."""
        return await self.call("POST", "/links", link_body(self.organization, **fields))

    async def names(self, path: str = "/links/page") -> set[str]:
        """The names of the links of a list, by default of the one that needs no figures."""
        answer = await self.call("GET", path)
        assert answer.status_code == 200, answer.text
        return {link["link_name"] for link in answer.json()["links"]}


async def limited_key(
    client: httpx.AsyncClient, database: Database, organization: TestOrganization, **names: list[str]
) -> LimitedKey:
    """A new key that is limited to these tags, domains and links."""
    reach = await find_reach(database, organization.id, names)
    scopes = tuple(permission for permission in Permission if permission in OF_LIMITED_KEYS)
    text, _ = await create_api_key(
        database, organization.id, KeyKind.REST, utc_now(), scopes=scopes, limited_to=reach
    )
    return LimitedKey(client, organization, text)
