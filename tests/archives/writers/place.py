"""Where a writer writes, and where its values come from."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx
from hypothesis import strategies as st

from backend.domain.ids import OrgId
from backend.domain.links.links import Link
from backend.storage.driver.mongo import Database
from backend.storage.links.links import list_links
from tests.api.told_sales import API
from tests.facts.organizations import TestOrganization


@dataclass(frozen=True)
class Place:
    """An organization, what writes into it, and where values come from."""

    client: httpx.AsyncClient
    database: Database
    organization: TestOrganization
    draw: Callable[[st.SearchStrategy[Any]], Any]

    @property
    def org_id(self) -> OrgId:
        """The organization's id."""
        return self.organization.id

    @property
    def now(self) -> datetime:
        """The time, as MongoDB has it."""
        return datetime.now(UTC).replace(microsecond=0)

    async def post(self, path: str, body: Mapping[str, Any], **headers: str) -> dict[str, Any]:
        """The answer of a REST operation, which must take the body."""
        given = self.organization.headers | {name.replace("_", "-"): text for name, text in headers.items()}
        answer = await self.client.post(f"{API}/{path}", json=body, headers=given)
        assert answer.status_code in {200, 201}, answer.text
        made: dict[str, Any] = answer.json()
        return made

    async def link(self, **fields: Any) -> Link:
        """A link, with these fields beside the usual ones."""
        body = {
            "domain": self.organization.domain,
            "destination_url": "https://shop.example/",
            "link_name": "A",
        }
        made = await self.post("links", body | fields)
        links = await list_links(self.database, self.org_id, skip=0, limit=100)
        return next(link for link in links if link.id == made["id"])


Writer = Callable[[Place], Awaitable[object]]
