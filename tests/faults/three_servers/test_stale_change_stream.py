"""A change stream that tells of nothing although something changes: it is found out, and opened elsewhere."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest

from backend.domain.ids import LinkId, OrgId
from backend.domain.links.links import Link
from backend.redirector.links.cache import LinkCache
from backend.settings import Settings
from backend.storage.database import Indexes, open_database
from backend.storage.driver.mongo import Database
from backend.storage.links.links import NAME
from backend.system.clock import utc_now
from tests.facts.stored_links import insert_links
from tests.polling import wait_for_async
from tests.processes.replica_set import ReplicaSet

Tell = Callable[[str], None]
# What is asked of a healthy machine is one second; a time to live of a day would hide nothing.
SECONDS = 6.0
DAY = 86_000.0


@asynccontextmanager
async def followed_link(database: Database) -> AsyncIterator[tuple[LinkCache, Link]]:
    """A link in a cache that follows changes."""
    now = datetime.now(UTC)
    link = Link(
        id=LinkId(f"l{time.monotonic_ns()}"),
        org_id=OrgId("o"),
        domain="go.stale.localhost",
        path=f"p{time.monotonic_ns()}",
        destination_url="https://shop.example/0",
        link_name="n",
        created_at=now,
        modified_at=now,
    )
    await insert_links(database, [link])
    cache = LinkCache(database, utc_now, capacity=10, seconds_to_live=DAY)
    await cache.start()
    try:
        await wait_for_async(lambda: follows(cache), "the stream is not current")
        await cache.load(link.domain, link.path)
        yield cache, link
    finally:
        await cache.stop()


async def follows(cache: LinkCache) -> bool:
    """Whether the cache's stream has proved that it is current."""
    return cache.follows_changes


async def seconds_until_seen(cache: LinkCache, link: Link, database: Database) -> float:
    """Change the link in the database; how long visitors get the old one then."""
    new = f"https://shop.example/{time.monotonic_ns()}"
    await database[NAME].update_one({"_id": link.id}, {"$set": {"destination_url": new}})
    changed = time.monotonic()

    async def destination() -> str:
        entry = cache.current(link.domain, link.path) or await cache.load(link.domain, link.path)
        assert entry
        return entry.link.destination_url

    await wait_for_async(destination, "the change is not seen", lambda seen: seen == new, seconds=60)
    return time.monotonic() - changed


async def test_a_stream_on_a_member_that_fell_behind_is_left(
    members: ReplicaSet, tell: Tell, caplog: pytest.LogCaptureFixture
) -> None:
    """The primary steps down and lags: changes at the new one are seen within a second, and it is logged."""
    settings = Settings(mongodb_uri=members.uri)
    async with open_database(settings, Indexes.LEAVE) as database, followed_link(database) as (cache, link):
        healthy = await seconds_until_seen(cache, link, database)
        await asyncio.to_thread(members.lag_behind)
        await asyncio.to_thread(members.wait_for_primary)
        with caplog.at_level(logging.WARNING, "waylink.changes"):
            taken = [await seconds_until_seen(cache, link, database) for _ in range(3)]
        assert await follows(cache)
        members.resume_replication()
    seen = ", ".join(f"{seconds:.2f}" for seconds in taken)
    tell(f"changes seen after {healthy:.2f} s; after a step-down to a member that lags, after {seen} s")
    assert max(taken) < SECONDS
    assert "The change stream is opened again" in caplog.text


async def test_a_stream_whose_connection_hangs_is_left(members: ReplicaSet, tell: Tell) -> None:
    """A connection that hangs without being closed: changes are seen within a second by another one."""
    port = members.wait_for_primary()
    async with relay(port) as (relayed, hang):
        uri = f"mongodb://127.0.0.1:{relayed}/?directConnection=true"
        async with (
            open_database(Settings(mongodb_uri=uri), Indexes.LEAVE) as database,
            open_database(Settings(mongodb_uri=members.uri), Indexes.LEAVE) as other,
            followed_link(database) as (cache, link),
        ):
            taken = []
            for _ in range(2):
                hang()
                taken.append(await seconds_until_seen(cache, link, other))
    seen = ", ".join(f"{seconds:.2f}" for seconds in taken)
    tell(f"changes seen, with the stream's connection hanging, after {seen} s")
    assert max(taken) < SECONDS


class Connection:
    """A connection through the relay: both of its sides, and whether a change stream uses it."""

    def __init__(self) -> None:
        self.passes = asyncio.Event()
        self.passes.set()
        self.is_stream = False
        self.writers: list[asyncio.StreamWriter] = []
        self.pumps: list[asyncio.Task[None]] = []

    async def pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Hand on what is sent, unless the connection hangs."""
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                self.is_stream = self.is_stream or b"getMore" in data
                await self.passes.wait()
                writer.write(data)
                await writer.drain()

    async def close(self) -> None:
        """Stop what is passed on, and close every connection."""
        for pump in self.pumps:
            pump.cancel()
        await asyncio.gather(*self.pumps, return_exceptions=True)
        for writer in self.writers:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()


@asynccontextmanager
async def relay(port: int) -> AsyncIterator[tuple[int, Callable[[], None]]]:
    """A port that leads to another, and what has the change streams' connections hang for ever."""
    connections: list[Connection] = []

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", port)
        connection = Connection()
        connection.writers = [writer, back]
        connection.pumps = [
            asyncio.create_task(connection.pump(reader, back)),
            asyncio.create_task(connection.pump(there, writer)),
        ]
        connections.append(connection)

    def hang() -> None:
        hanging = [connection for connection in connections if connection.is_stream]
        assert hanging
        for connection in hanging:
            connection.passes.clear()

    server = await asyncio.start_server(connect, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1], hang
    finally:
        server.close()
        for connection in connections:
            await connection.close()
