"""What a caller does until it is acknowledged: an install, an open, a link, a sale, a click, a change."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import httpx

from backend.app import Service
from backend.domain.clicks.clicks import client_fragment, record_line
from backend.domain.clicks.stretch import read_stretch
from backend.domain.ids import InstallId, LinkId
from backend.domain.links.destinations import destination
from backend.redirector.request.recognition import recognize
from backend.storage.clicks.blocks import ship_blocks
from backend.storage.clicks.logs import AlreadyShipped, LogHead
from backend.storage.driver.mongo import StorageError
from tests.api.link_calls import API
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, conversion

CLICKED = "a-link-that-nobody-visits"
OLD, NEW = "https://shop.example/old", "https://shop.example/new"
_OPEN = "/serviceCore/app/v1/open"


@dataclass
class Tries:
    """What a caller does again and again until it is acknowledged, always the same."""

    client: httpx.AsyncClient
    service: Service
    organization: TestOrganization
    link_id: LinkId
    link_path: str
    visitor: Visitor = field(init=False)
    click_log: str = field(default_factory=lambda: uuid.uuid4().hex)
    install_id: InstallId = field(default_factory=lambda: InstallId(str(uuid.uuid4())))
    sale: dict[str, Any] = field(default_factory=conversion)

    def __post_init__(self) -> None:
        self.visitor = Visitor(self.client, self.organization)

    async def install(self) -> str:
        """A first launch of an app."""
        body = {"platform": "ios", "install_id": self.install_id, "is_first_launch": True}
        headers = {"API-KEY": self.organization.mobile_key}
        return str((await self.client.post(_OPEN, json=body, headers=headers)).status_code)

    async def open(self) -> str:
        """An open of an app by a link."""
        body = {"platform": "ios", "install_id": self.install_id, "is_first_launch": False}
        body |= {"open_id": self.install_id, "link_id": self.link_id}
        headers = {"API-KEY": self.organization.mobile_key}
        return str((await self.client.post(_OPEN, json=body, headers=headers)).status_code)

    async def new_link(self) -> str:
        """A new link, with an Idempotency-Key."""
        body = {"domain": self.organization.domain, "destination_url": OLD, "link_name": "n"}
        headers = self.organization.headers | {"Idempotency-Key": self.install_id}
        answer = await self.client.post(
            f"{API}/create-link", json=body | {"selected_path": "new-one"}, headers=headers
        )
        return str(answer.status_code)

    async def batch(self) -> str:
        """A sale, sent by the SDK."""
        return str((await self.visitor.post(self.sale)).status_code)

    async def ship(self) -> str:
        """A click, from the log of a process."""
        line = record_line(
            self.organization.id,
            LinkId(CLICKED),
            client_fragment(recognize(b"")),
            at=datetime.now(UTC),
            outcome=destination.Outcome.WEB,
            reason=None,
            country=None,
            referrer_host=None,
        )
        blocks = read_stretch(line).blocks
        try:
            await ship_blocks(self.service.resources.database, self.click_log, LogHead(), 100, blocks)
        except AlreadyShipped:
            return "already"
        except StorageError:
            return "503"
        return "200"

    async def change_link(self) -> str:
        """Another destination for a link."""
        answer = await self.client.patch(
            f"{API}/update-link/{self.link_id}",
            json={"destination_url": NEW},
            headers=self.organization.headers,
        )
        return str(answer.status_code)

    async def destination(self) -> str:
        """The address that the link redirects to, without its query."""
        host = {"host": self.organization.domain}
        location = (await self.client.get(f"/{self.link_path}", headers=host)).headers["location"]
        return location.partition("?")[0]
