"""Events a second to one webhook, and how long after a redirect its receiver knows of the click.

`python -m benchmarks.webhooks` starts a MongoDB, the service with one worker, and a receiver that answers at
once. It prints the delay from a click's own time to its arrival, of lone redirects and of those of a load by
wrk, and how many events arrive a second, in requests with one event and with a hundred.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx

from backend.domain.clicks.stretch import read_stretch
from backend.domain.ids import OrgId
from backend.domain.links.links import Link
from backend.settings import Settings
from backend.storage.clicks.blocks import ship_blocks
from backend.storage.clicks.logs import LogHead
from backend.storage.database import open_database
from backend.storage.driver.mongo import Database
from backend.storage.embedded.mongodb import EmbeddedMongoDB
from backend.storage.webhooks.endpoints import create_endpoint, delete_endpoint
from backend.system.clock import utc_now
from benchmarks.data.made_clicks import made_lines
from benchmarks.data.stored_links import new_link, prepare_domain
from benchmarks.measuring.servers import HYPERCORN, service
from benchmarks.measuring.wrk import HOST, ask, require_wrk
from tests.facts.stored_links import insert_links

_ANSWER = b"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n"
_LOAD_SECONDS = 10


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--events", type=int, default=10_000, help="how many are sent in batches of 100")
    options.add_argument("--delays", type=int, default=20, help="how many lone redirects are made")
    arguments = options.parse_args()
    require_wrk()
    asyncio.run(_measure(arguments.events, max(2, arguments.delays)))


@dataclass(slots=True)
class _Arrivals:
    """The seconds from each event's own time to its arrival, in order."""

    port: int = 0
    delays: list[float] = field(default_factory=list)

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take requests of one connection until it ends."""
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = next(
                    int(line.partition(b":")[2])
                    for line in head.split(b"\r\n")
                    if line.lower().startswith(b"content-length:")
                )
                body = json.loads(await reader.readexactly(length))
                now = time.time()
                for event in body.get("events", [body]):
                    self.delays.append(now - datetime.fromisoformat(event["at"]).timestamp())
                writer.write(_ANSWER)
        except asyncio.IncompleteReadError:
            writer.close()

    async def wait_for(self, events: int) -> None:
        """Wait until so many have arrived."""
        while len(self.delays) < events:  # noqa: ASYNC110 - a look costs nothing
            await asyncio.sleep(0.005)


@asynccontextmanager
async def _receiver() -> AsyncIterator[_Arrivals]:
    arrivals = _Arrivals()
    server = await asyncio.start_server(arrivals.answer, "127.0.0.1", 0)
    arrivals.port = server.sockets[0].getsockname()[1]
    try:
        yield arrivals
    finally:
        server.close()


async def _measure(events: int, delays: int) -> None:
    with tempfile.TemporaryDirectory(prefix="waylink-bench-") as name:
        folder = Path(name)
        async with EmbeddedMongoDB(folder / "mongodb") as mongodb:
            settings = replace(Settings(), mongodb_uri=mongodb.uri, data_dir=folder)
            async with open_database(settings) as database:
                link = await _store_link(database)
                with service(HYPERCORN, folder, mongodb.uri) as ours:
                    address = f"{ours.url}/{link.path}"
                    await _print_lone(database, link, address, delays)
                    await _print_loaded(database, link, address)
                    await _print_rate(database, link, events // 10, batch_size=1)
                    await _print_rate(database, link, events, batch_size=100)


async def _store_link(database: Database) -> Link:
    link = new_link(OrgId(await prepare_domain(database)), 0)
    await insert_links(database, [link])
    return link


@asynccontextmanager
async def _endpoint(database: Database, link: Link, batch_size: int) -> AsyncIterator[_Arrivals]:
    """An endpoint that gets the organization's clicks from now on."""
    async with _receiver() as arrivals:
        url = f"http://127.0.0.1:{arrivals.port}/"
        fields = {"url": url, "types": ["click"], "batch_size": batch_size}
        made = await create_endpoint(database, link.org_id, fields, utc_now())
        await asyncio.sleep(2)  # until a process delivers to it
        yield arrivals
        await delete_endpoint(database, link.org_id, made.id)


async def _print_lone(database: Database, link: Link, address: str, times: int) -> None:
    async with _endpoint(database, link, batch_size=1) as arrivals, httpx.AsyncClient() as client:
        for number in range(times):
            await client.get(address, headers={"Host": HOST})
            await arrivals.wait_for(number + 1)
            await asyncio.sleep(0.5)
        _print_delays("lone redirects", arrivals.delays)


async def _print_loaded(database: Database, link: Link, address: str) -> None:
    async with _endpoint(database, link, batch_size=100) as arrivals:
        run = await ask(address, _LOAD_SECONDS)
        at_once = len(arrivals.delays)
        await arrivals.wait_for(run.answers)
        print(
            f"load of {run.answers / _LOAD_SECONDS:,.0f} redirects/s: "
            f"{at_once / _LOAD_SECONDS:,.0f} events/s arrived meanwhile, in batches of 100"
        )
        _print_delays("redirects of the load", arrivals.delays)


async def _print_rate(database: Database, link: Link, events: int, batch_size: int) -> None:
    day = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=1)
    lines = b"".join(made_lines(link.org_id, [link.id], events, day, timedelta(hours=1)))
    async with _endpoint(database, link, batch_size) as arrivals:
        began = time.monotonic()
        await ship_blocks(database, uuid.uuid4().hex, LogHead(), len(lines), read_stretch(lines).blocks)
        await arrivals.wait_for(events)
        print(f"batches of {batch_size}: {events / (time.monotonic() - began):,.0f} events/s")


def _print_delays(which: str, seconds: Sequence[float]) -> None:
    middle, late = statistics.median(seconds), statistics.quantiles(seconds, n=20)[-1]
    print(f"from {which} to the receiver: median {middle:.2f} s, 95 % within {late:.2f} s")


if __name__ == "__main__":
    main()
