"""What tests of webhooks share: a receiver, endpoints, and things that happen."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from backend.domain.feed.cursor import START
from backend.domain.feed.events import Event
from backend.domain.ids import LinkId, OrgId
from backend.domain.web.short_urls import ShortUrlForm
from backend.domain.webhooks.endpoint import Endpoint
from backend.storage.driver.mongo import Database
from backend.storage.feed.reading import read_feed
from backend.storage.webhooks.endpoints import create_endpoint
from backend.system.clock import utc_now
from tests.facts.clicks import click, ship
from tests.facts.organizations import TestOrganization
from tests.polling import wait_for_async
from tests.webhooks.receiver import Receiver, receiver

EndpointMaker = Callable[..., Awaitable[Endpoint]]
LINK = LinkId(str(uuid.uuid4()))


@pytest.fixture
def hook() -> Iterator[Receiver]:
    """A receiver of this test's own."""
    with receiver() as hook_receiver:
        yield hook_receiver


@pytest.fixture
def make_endpoint(database: Database, organization: TestOrganization, hook: Receiver) -> EndpointMaker:
    """Makes endpoints of the organization, by default at the receiver."""

    async def make(**fields: Any) -> Endpoint:
        return await create_endpoint(database, organization.id, {"url": hook.url(), **fields}, utc_now())

    return make


async def happen(database: Database, org_id: OrgId, clicks: int, link_id: LinkId = LINK) -> None:
    """Store so many clicks, a millisecond apart."""
    now = utc_now()
    made = [click(org_id, link_id, now + timedelta(milliseconds=number)) for number in range(clicks)]
    await ship(database, made)


async def all_events(database: Database, org_id: OrgId, count: int) -> list[Event]:
    """What the organization's feed has, once there are so many."""

    async def read() -> list[Event]:
        return list((await read_feed(database, org_id, START, url_form=ShortUrlForm())).events)

    return await wait_for_async(read, "events in the feed", lambda read: len(read) == count)
