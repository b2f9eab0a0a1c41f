"""Fixtures for the redirector: links on an organization's domain, and visitors of them."""

from __future__ import annotations

import secrets
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import asdict
from functools import partial
from typing import Any

import httpx
import pytest

from backend.app import Service
from backend.domain.accounts.apps import Apps
from backend.domain.links.links import Link
from backend.storage.accounts.apps import set_apps
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from tests.facts.clicks import recorded_clicks
from tests.facts.organizations import TestOrganization
from tests.facts.stored_links import insert_links
from tests.polling import wait_for_async

LinkFactory = Callable[..., Awaitable[Link]]
SetApps = Callable[[Apps], Awaitable[None]]
Recorded = Callable[..., Awaitable[list[dict[str, Any]]]]


@pytest.fixture
def make_link(database: Database, organization: TestOrganization) -> LinkFactory:
    """Stores a link of the organization, on its domain; fields may be given."""

    async def make(**fields: Any) -> Link:
        now = utc_now()
        given: dict[str, Any] = {
            "id": str(uuid.uuid4()),
            "org_id": organization.id,
            "domain": organization.domain,
            "path": secrets.token_hex(4),
            "destination_url": "https://shop.example/kites",
            "link_name": "Kites",
            "created_at": now,
            "modified_at": now,
        }
        link = Link(**given | fields)
        await insert_links(database, [link])
        return link

    return make


@pytest.fixture
def set_domain_apps(database: Database, organization: TestOrganization) -> SetApps:
    """Sets the apps of the organization's domain."""
    return partial(set_apps, database, organization.domain, organization.id)


@pytest.fixture
async def visitor(service: Service, organization: TestOrganization) -> AsyncIterator[httpx.AsyncClient]:
    """A client on the organization's link domain, which does not follow redirects."""
    transport = httpx.ASGITransport(app=service)
    async with httpx.AsyncClient(
        transport=transport, base_url=f"http://{organization.domain}", headers={"user-agent": DESKTOP}
    ) as client:
        yield client


@pytest.fixture
def recorded(database: Database) -> Recorded:
    """Waits until a link has that many records, and gives them, oldest first."""

    async def read(link: Link, count: int) -> list[dict[str, Any]]:
        found = await wait_for_async(
            lambda: recorded_clicks(database, link.org_id, link.id),
            f"there are not {count} records",
            lambda found: len(found) >= count,
        )
        assert len(found) == count
        return [asdict(click) for click in found]

    return read


DESKTOP = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/126.0.0.0 Safari/537.36"
)
