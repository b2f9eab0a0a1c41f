"""A link in a database of a test's own, visited at service processes, and its clicks counted there."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Coroutine
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from backend.domain.clicks.clicks import client_fragment, record_line
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.destinations.destination import Outcome
from backend.domain.links.links import Link
from backend.domain.web.client import Client, ClientKind, Platform
from backend.settings import Settings
from backend.storage.analytics.clicks.click_windows import ClickWindow
from backend.storage.analytics.client import Analytics
from backend.storage.database import open_database
from backend.storage.driver.mongo import Database
from tests.facts.clicks import recorded_clicks
from tests.facts.organizations import create_test_organization
from tests.facts.stored_links import insert_links
from tests.polling import until, wait_for_async
from tests.processes.service_process import ServiceProcess, own_database, service_process


@dataclass(frozen=True, slots=True)
class VisitedLink:
    """The link, and the database that it is in."""

    database: Database
    analytics: Analytics
    mongodb_uri: str
    domain: str
    path: str
    id: str
    org_id: OrgId

    def service(
        self, data_dir: Path, *, module: str | None = None, **settings: str
    ) -> AbstractContextManager[ServiceProcess]:
        """A service on the link's database; `module` is one to run instead of `waylink serve`."""
        return service_process(
            data_dir,
            module=module,
            WAYLINK_MONGODB_URI=self.mongodb_uri,
            WAYLINK_MONGODB_DATABASE=self.database.name,
            **settings,
        )

    def client(self, service: ServiceProcess) -> httpx.AsyncClient:
        """A visitor's browser, which keeps its connection."""
        return httpx.AsyncClient(base_url=service.base_url, headers={"host": self.domain}, timeout=30)

    async def visit(self, service: ServiceProcess, times: int = 1) -> None:
        """Follow the link that often, one visit after the other."""
        async with self.client(service) as client:
            for _ in range(times):
                assert (await client.get(f"/{self.path}")).status_code == 302

    def record(self, link_id: LinkId | None = None) -> bytes:
        """The line of a click in a click log, on this link or another of its organization."""
        client = client_fragment(Client(ClientKind.BROWSER, Platform.DESKTOP))
        return record_line(
            self.org_id, link_id or LinkId(self.id), client, at=datetime.now(UTC), outcome=Outcome.WEB,
            reason=None, country=None, referrer_host=None,
        )  # fmt: skip

    async def counted(self) -> int:
        """How many clicks are counted."""
        return (await self.analytics.ask(self.org_id, ClickWindow(LinkId(self.id), datetime.now(UTC)))).total

    async def wait_until_counted(self, clicks: int) -> None:
        """Return once there are exactly so many, counted and recorded; fail where there are more."""
        await wait_for_async(self.counted, f"not {clicks} clicks", lambda seen: seen >= clicks, seconds=60)
        assert await self.counted() == clicks
        assert len(await recorded_clicks(self.database, self.org_id, LinkId(self.id))) == clicks


@asynccontextmanager
async def visited_link(mongodb_uri: str) -> AsyncIterator[VisitedLink]:
    """A new link in a database of its own on this MongoDB."""
    with TemporaryDirectory() as folder, own_database(mongodb_uri) as own:
        name = own["WAYLINK_MONGODB_DATABASE"]
        settings = Settings(mongodb_uri=mongodb_uri, mongodb_database=name, data_dir=Path(folder))
        async with open_database(settings) as database:
            analytics = Analytics(database, settings, lambda _: None)  # waits, however many clicks there are
            yield await _stored(database, analytics, mongodb_uri)
            await analytics.close()


async def _stored(database: Database, analytics: Analytics, mongodb_uri: str) -> VisitedLink:
    organization = await create_test_organization(database)
    now = datetime.now(UTC)
    link = Link(
        LinkId(str(uuid.uuid4())), organization.id, organization.domain, "kites",
        "https://shop.example/", "Kites", now, now,
    )  # fmt: skip
    await insert_links(database, [link])
    return VisitedLink(database, analytics, mongodb_uri, link.domain, link.path, link.id, link.org_id)


def log_of(data_dir: Path) -> Path:
    """The click log of the one process that writes there."""
    (log,) = (data_dir / "clicks").glob("*.log")
    return log


class Visits:
    """Visitors who follow the link one visit after the other, and how long each of them waited."""

    visitors = 2
    pause = 0.05  # seconds between two visits

    def __init__(self, link: VisitedLink, service: ServiceProcess) -> None:
        self.link = link
        self.service = service
        self.waited: list[float] = []
        self._stop = False

    @asynccontextmanager
    async def load(self) -> AsyncIterator[None]:
        """They come for the length of the block."""
        self._stop = False
        async with asyncio.TaskGroup() as tasks:
            for work in self._works():
                tasks.create_task(work)
            try:
                yield
            finally:
                self._stop = True

    async def more(self, count: int) -> None:
        """Return once so many more were answered."""
        least = len(self.waited) + count
        await until(lambda: len(self.waited) >= least, "visits are not answered", seconds=30)

    def _works(self) -> list[Coroutine[Any, Any, None]]:
        return [self._visit_often() for _ in range(self.visitors)]

    async def _visit_often(self) -> None:
        async with self.link.client(self.service) as client:
            while not self._stop:
                await self._visit(client)
                await asyncio.sleep(self.pause)

    async def _visit(self, client: httpx.AsyncClient) -> None:
        began = time.monotonic()
        assert (await client.get(f"/{self.link.path}")).status_code == 302
        self.waited.append(time.monotonic() - began)
