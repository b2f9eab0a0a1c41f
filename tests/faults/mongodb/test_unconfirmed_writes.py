"""Replication stands still, and the primary dies with what only it has: nothing of that was acknowledged, or
taken for stored, or shown to a visitor, so that whoever tries again loses nothing."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from backend.app import Service, create_app
from backend.domain.clicks.clicks import client_fragment, record_line
from backend.domain.clicks.stretch import read_stretch
from backend.domain.ids import InstallId, LinkId
from backend.domain.links.destinations import destination
from backend.domain.links.input import parse_new_link
from backend.domain.links.links import CreatedBy
from backend.domain.links.operations import CreateLink, LinkRequest
from backend.redirector.request.recognition import recognize
from backend.settings import Settings
from backend.storage.analytics.click_windows import ClickWindow
from backend.storage.clicks.blocks import ship_blocks
from backend.storage.clicks.logs import AlreadyShipped, LogHead
from backend.storage.database import Indexes, open_database
from backend.storage.driver.deadlines import deadline
from backend.storage.driver.mongo import StorageError
from backend.storage.links.destinations.policies import DestinationPolicies
from backend.storage.links.writing.writes import Submission, write_links
from tests.api.link_calls import API, create, info, link_body
from tests.facts.clicks import click, recorded_clicks, ship
from tests.facts.organizations import TestOrganization, create_test_organization
from tests.facts.sdk_batches import Visitor, conversion
from tests.faults.outcomes import Outcome, TellOutcome
from tests.polling import wait_for_async
from tests.processes.replica_set import ReplicaSet, replica_set

OPEN = "/serviceCore/app/v1/open"
# How long each try is given: it fails by then, since no majority confirms it.
PATIENCE = 1.0
CLICKED = "a-link-that-nobody-visits"
OLD, NEW = "https://shop.example/old", "https://shop.example/new"
Try = Callable[[], Awaitable[str]]


@pytest.fixture
def members(tmp_path: Path) -> Iterator[ReplicaSet]:
    """Three MongoDB servers whose replication can be stopped."""
    (tmp_path / "members").mkdir()
    with replica_set(tmp_path / "members", can_fail=True) as members:
        yield members


@pytest.fixture
async def service(members: ReplicaSet, tmp_path: Path) -> AsyncIterator[Service]:
    """A service on them that keeps no link in memory for long."""
    settings = Settings(mongodb_uri=members.uri, data_dir=tmp_path / "data", link_cache_seconds=0.01)
    service = create_app(settings)
    await service.startup()
    yield service
    await service.shutdown()


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
        return str((await self.client.post(OPEN, json=body, headers=headers)).status_code)

    async def open(self) -> str:
        """An open of an app by a link."""
        body = {"platform": "ios", "install_id": self.install_id, "is_first_launch": False}
        body |= {"open_id": self.install_id, "link_id": self.link_id}
        headers = {"API-KEY": self.organization.mobile_key}
        return str((await self.client.post(OPEN, json=body, headers=headers)).status_code)

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


async def test_what_no_majority_has_is_neither_acknowledged_nor_shown(
    members: ReplicaSet, service: Service, outcome: TellOutcome
) -> None:
    """Each try fails, the second one too; after the failover the third one stores it, once."""
    transport = httpx.ASGITransport(app=service)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8080") as client:
        database = service.resources.database
        organization = await create_test_organization(database)
        short_url = await create(client, organization, destination_url=OLD)
        link_id = (await info(client, organization, short_url))["id"]
        tries = Tries(client, service, organization, link_id, urlsplit(short_url).path[1:])
        actions = [tries.install, tries.new_link, tries.batch, tries.ship, tries.open]
        await ship(database, [click(organization.id, LinkId(CLICKED), datetime.now(UTC))])
        members.stop_replication()
        for action in (*actions, tries.change_link, *actions):
            with deadline(PATIENCE):
                assert await action() == "503", action.__name__
        assert await tries.destination() == OLD
        members.kill_primary()
        members.resume_replication()
        members.wait_for_primary()
        answers = [await acknowledged(action) for action in actions]
        stored = [
            await database[collection].count_documents(fields)
            for collection, fields in (
                ("installs", {}), ("links", {"path": "new-one"}), ("conversions", {}),
            )
        ]  # fmt: skip
        clicks = await recorded_clicks(database, organization.id, LinkId(CLICKED))
        stored.append(len(clicks) - 1)  # one was stored before
        clicks = await recorded_clicks(database, organization.id, LinkId(link_id))
        stored.append(sum(recorded.outcome is destination.Outcome.APP for recorded in clicks))
        outcome(
            Outcome("primary dies with unconfirmed writes (an install, a link, a sale, a click, an open)",
                    len(answers), sum(stored))
        )  # fmt: skip
        assert answers == ["200", "201", "200", "200", "200"]
        assert stored == [1, 1, 1, 1, 1]
        assert await tries.destination() == OLD
        window = ClickWindow(LinkId(CLICKED), datetime.now(UTC))
        assert (await service.resources.analytics.ask(organization.id, window)).total == 2
        assert await database["idempotency"].count_documents({}) == 1


async def test_links_that_are_stored_beside_one_whose_path_is_taken(tmp_path: Path) -> None:
    """They count as stored only if a majority confirmed them, whatever else is said of the same command."""
    (tmp_path / "members").mkdir()
    with replica_set(tmp_path / "members", size=1, can_fail=True) as member:
        settings = Settings(mongodb_uri=member.uri, data_dir=tmp_path / "data")
        async with open_database(settings, Indexes.MAKE) as database:
            organization = await create_test_organization(database)

            def new(path: str) -> Submission:
                body = link_body(organization, selected_path=path)
                operation = CreateLink(parse_new_link(body))
                now = datetime.now(UTC)
                return Submission([LinkRequest(organization.id, CreatedBy.REST, now, operation)])

            policies = DestinationPolicies(database)
            await write_links(database, [new("taken")], policies)
            member.leave_unconfirmed("insert")
            with pytest.raises(StorageError):
                await write_links(database, [new("taken"), new("free")], policies)


async def acknowledged(action: Try) -> str:
    """What is answered to the first try that is acknowledged."""
    return await wait_for_async(action, action.__name__, lambda answer: answer != "503", seconds=60)
