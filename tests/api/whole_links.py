"""The links of an organization, over the REST API's operations on whole links."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx

from tests.api.link_calls import API, link_body
from tests.facts.organizations import TestOrganization
from tests.polling import wait_for_async


@dataclass(frozen=True, slots=True)
class Links:
    """The links of an organization, over the REST API."""

    client: httpx.AsyncClient
    organization: TestOrganization

    async def call(self, method: str, path: str, body: object = None, **headers: str) -> httpx.Response:
        """A call with the organization's key."""
        return await self.client.request(
            method, f"{API}/links{path}", json=body, headers=self.organization.headers | headers
        )

    async def post(self, *, headers: dict[str, str] | None = None, **fields: Any) -> httpx.Response:
        """POST /links with the required fields and these."""
        return await self.call("POST", "", link_body(self.organization, **fields), **(headers or {}))

    async def make(self, **fields: Any) -> dict[str, Any]:
        """A new link."""
        answer = await self.post(**fields)
        assert answer.status_code == 201, answer.text
        made: dict[str, Any] = answer.json()
        return made

    async def get(self, link_id: str) -> dict[str, Any]:
        """The link with this id."""
        answer = await self.call("GET", f"/{link_id}")
        assert answer.status_code == 200, answer.text
        link: dict[str, Any] = answer.json()
        return link

    async def list(self, query: str = "") -> list[dict[str, Any]]:
        """The first page of a list."""
        answer = await self.call("GET", f"?{query}" if query else "")
        assert answer.status_code == 200, answer.text
        links: list[dict[str, Any]] = answer.json()["links"]
        return links

    async def visit(self, path: str) -> int:
        """The status of a visitor's request for a short URL."""
        answer = await self.client.get(f"/{path}", headers={"Host": self.organization.domain})
        return answer.status_code

    async def click(self, link: dict[str, Any], times: int = 1) -> None:
        """Click a link, and wait until that is counted."""
        total = (await self.get(link["id"]))["clicks"]["total"] + times
        for _ in range(times):
            assert await self.visit(link["path"]) == 302

        async def counted() -> int:
            return int((await self.get(link["id"]))["clicks"]["total"])

        await wait_for_async(counted, "the clicks were not counted", lambda clicks: clicks == total)
