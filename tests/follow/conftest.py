"""A PostgreSQL, a service whose feed is followed, and followers as processes."""

from __future__ import annotations

import signal
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import Result

from backend.domain.clicks.block import blocks_of
from backend.domain.feed.cursor import START
from backend.domain.feed.events import Event
from backend.domain.ids import LinkId, OrgId
from backend.domain.web.short_urls import ShortUrlForm
from backend.environment import load_settings
from backend.storage.clicks.blocks import ship_blocks
from backend.storage.clicks.logs import LogHead
from backend.storage.database import open_database
from backend.storage.driver.mongo import Database
from backend.storage.feed.reading import read_feed
from tests.facts.clicks import click
from tests.follow.chdb_server import ChdbServer
from tests.polling import until, wait_for_async
from tests.processes.forked.service import ForkedProcess, forked_command
from tests.processes.postgresql import PostgreSQL, postgresql
from tests.processes.service_process import ServiceProcess, invoke

if TYPE_CHECKING:
    from chdb.session import Session

NOW = datetime(2026, 5, 6, 12, tzinfo=UTC)
LINK = LinkId(str(uuid.uuid4()))


@dataclass(frozen=True, slots=True)
class Feed:
    """An organization of a test's own, in the database of a running service."""

    database: Database
    org_id: OrgId
    service: ServiceProcess

    async def add(self, clicks: int) -> None:
        """Store a block of so many clicks."""
        made = [click(self.org_id, LINK, NOW + timedelta(seconds=number)) for number in range(clicks)]
        await ship_blocks(self.database, uuid.uuid4().hex, LogHead(), 100, blocks_of(made))

    async def events(self) -> list[Event]:
        """All of its events, once the service has given each its place."""
        await wait_for_async(self._is_placed, "events wait for their places")
        read: list[Event] = []
        cursor, has_more = START, True
        while has_more:
            page = await read_feed(self.database, self.org_id, cursor, url_form=ShortUrlForm())
            read += page.events
            cursor, has_more = page.next_cursor, page.has_more
        return read

    async def _is_placed(self) -> bool:
        waiting = {"org_id": self.org_id, "waits": True}
        return await self.database["feed_entries"].find_one(waiting) is None

    def command(self, form: str, place: object = None, *options: str) -> list[str]:
        """The command that follows it."""
        to = [] if place is None else ["--to", str(place)]
        return ["follow", "--org", self.org_id, "--into", form, *to, *options]

    def follow_once(self, form: str, place: object = None, *options: str) -> Result:
        """Follow it to its end."""
        return invoke(*self.command(form, place, "--once", *options), environment=self.service.environment)

    @contextmanager
    def follower(self, log: Path, form: str, place: object = None, *options: str) -> Iterator[Follower]:
        """A follower as a process, which is killed at the end of the block."""
        log.touch()
        arguments = self.command(form, place, *options)
        with forked_command(self.service.environment, log, arguments) as process:
            yield Follower(process, log)


@dataclass(frozen=True, slots=True)
class Follower:
    """A running follower, and the file with what it says."""

    process: ForkedProcess
    log: Path

    async def says(self, words: str) -> None:
        """Wait until it has said this."""
        await until(lambda: words in self.text or self.process.poll() is not None, words)
        assert words in self.text, self.text

    async def times_going_on(self) -> int:
        """How often it has gone on after an outage."""
        return self.text.count("Going on")

    @property
    def text(self) -> str:
        """What it has said."""
        return self.log.read_text()

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        """Send the signal; gives the exit code."""
        self.process.send_signal(number)
        return self.process.wait(timeout=60)


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgreSQL]:
    """A PostgreSQL server, which the tests of a worker share."""
    with postgresql() as server:
        yield server


@pytest.fixture
def warehouse(postgres: PostgreSQL) -> str:
    """The address of an empty database of this test's own."""
    return postgres.make_database(f"test_{uuid.uuid4().hex[:12]}")


@pytest.fixture(scope="module")
async def stored(running: ServiceProcess) -> AsyncIterator[Database]:
    """The database of the running service."""
    async with open_database(load_settings(running.environment, Path("none"))) as database:
        yield database


@pytest.fixture
def feed(stored: Database, running: ServiceProcess) -> Feed:
    """The feed of a new organization."""
    org_id = OrgId(running.command("organization", "create", "Acme")["id"])
    return Feed(stored, org_id, running)


@pytest.fixture(scope="session")
def clickhouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """ClickHouse's engine: a process can have one."""
    from chdb.session import Session  # its threads work in every process that has loaded it

    session = Session(str(tmp_path_factory.mktemp("chdb")))
    yield session
    session.close()


@pytest.fixture
def chdb_server(clickhouse: Session) -> Iterator[ChdbServer]:
    """The engine with an empty database."""
    clickhouse.query("DROP DATABASE IF EXISTS shop SYNC")
    clickhouse.query("CREATE DATABASE shop ENGINE = Atomic")
    server = ChdbServer(clickhouse)
    with server.running():
        yield server
