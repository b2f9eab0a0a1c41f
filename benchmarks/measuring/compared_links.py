"""Links that differ in one thing, asked for in turns on the same service with one worker process."""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from backend.domain.links.links import Link
from backend.settings import Settings
from backend.storage.database import open_database
from backend.storage.driver.mongo import Database
from backend.storage.embedded.mongodb import EmbeddedMongoDB
from benchmarks.measuring.servers import HYPERCORN, Server, installed_servers, service
from benchmarks.measuring.wrk import require_wrk

# Makes and stores the links.
Store = Callable[[Database], Awaitable[Sequence[Link]]]
# Asks the server for these URLs, for so many seconds and so many times each, and prints what that took.
Measure = Callable[[Server, Sequence[str], int, int], Awaitable[None]]


def compare(what: str, store: Store, measure: Measure, *, rounds: int) -> None:
    """Start a MongoDB with these links and the service, and measure; the command line says how long."""
    options = argparse.ArgumentParser(description=what)
    options.add_argument("--seconds", type=int, default=2, help="how long each measurement takes")
    options.add_argument(
        "--rounds", type=int, default=rounds, help="how many measurements of each, 2 at least"
    )
    options.add_argument("--server", choices=installed_servers(), default=HYPERCORN, help="on this one")
    arguments = options.parse_args()
    require_wrk()
    asyncio.run(_compare(arguments.server, store, measure, arguments.seconds, max(2, arguments.rounds)))


async def _compare(server: str, store: Store, measure: Measure, seconds: int, rounds: int) -> None:
    async with links_in_mongodb(store) as (settings, uri, links):
        with service(server, settings.data_dir, uri) as ours:
            await measure(ours, [f"{ours.url}/{link.path}" for link in links], seconds, rounds)


@asynccontextmanager
async def links_in_mongodb(store: Store) -> AsyncIterator[tuple[Settings, str, Sequence[Link]]]:
    """The settings of a service that uses a new MongoDB, the address of that, and links in it."""
    with tempfile.TemporaryDirectory(prefix="waylink-bench-") as name:
        folder = Path(name)
        async with EmbeddedMongoDB(folder / "mongodb") as mongodb:
            settings = replace(Settings(), mongodb_uri=mongodb.uri, data_dir=folder)
            async with open_database(settings) as database:
                links = await store(database)
            yield settings, mongodb.uri, links
