"""Links per second that the REST API creates, one a request and in bulks, compared with plain inserts.

`python -m benchmarks.link_creation` starts a MongoDB and the service, as `waylink serve` runs it. In one run
it measures, in rounds that take turns:

- the driver: 16 tasks that each insert two documents, one after the other, with `w: majority`; nothing else;

- single creations: 16 connections over loopback, POST /create-link and POST /links; and one connection that
  sends POST /links one after the other, as an integration does without bulks;

- bulks: one connection that sends POST /links/bulk with 1,000 creations, one bulk after the other;

- what bulks can't be faster than: the driver stores the documents of 1,000 links, made before, in a
  transaction.

The service, MongoDB and the senders share the cores of this machine, so the numbers are low. What counts is
their ratio. Beside each rate stands the processor time of the service for each link, its background work
included.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import uvloop

from backend.domain.accounts.api_keys import KeyKind
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.input import parse_new_link
from backend.domain.links.links import CreatedBy
from backend.settings import Settings
from backend.storage.accounts import api_keys, domains, organizations
from backend.storage.database import open_database
from backend.storage.driver.mongo import ClientSession, Database, in_transaction
from backend.storage.embedded.mongodb import EmbeddedMongoDB
from backend.storage.links import links
from backend.storage.links.writing.random_names import random_ids
from benchmarks.measuring.servers import cpu_seconds_of
from benchmarks.measuring.spread import spread
from tests.processes.service_process import SERVE, ServiceProcess, service_process

CONNECTIONS = 16
IN_BULK = 1_000
DOMAIN = "go.bench.example"
API = "/serviceCore/pa/v1"
# Sends one request and returns how many links, or pairs of documents, it made.
Sender = Callable[[], Awaitable[int]]
CREATE_LINK, POST_LINK, BULK = "POST /create-link", "POST /links", f"POST /links/bulk, {IN_BULK:,} a request"
ONE_BY_ONE = "POST /links, one connection"
DRIVER = "the driver, two inserts each"
DRIVER_BULK = f"the driver, {IN_BULK:,} in a transaction"


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--seconds", type=float, default=2.0, help="how long each measurement takes")
    options.add_argument("--rounds", type=int, default=5, help="how many measurements of each, 2 at least")
    arguments = options.parse_args()
    uvloop.run(_measure_all(arguments.seconds, max(2, arguments.rounds)))


async def _measure_all(seconds: float, rounds: int) -> None:
    with tempfile.TemporaryDirectory(prefix="waylink-bench-") as folder:
        async with EmbeddedMongoDB(Path(folder) / "mongodb") as server:
            settings = replace(Settings(), mongodb_uri=server.uri, data_dir=Path(folder))
            async with open_database(settings) as database:
                key = await _organization(database)
                uri = str(settings.mongodb_uri)
                with service_process(
                    settings.data_dir / "service",
                    SERVE,
                    WAYLINK_MONGODB_URI=uri,
                    WAYLINK_RATE_LIMIT="1000000000",
                ) as service:
                    kinds = _kinds(database, service.base_url, key)
                    await _report(kinds, seconds, rounds, service)


def _kinds(database: Database, base_url: str, key: str) -> dict[str, Callable[[], Awaitable[list[Sender]]]]:
    """What is measured; each opens its own connections, since the service closes idle ones."""
    one = json.dumps(_link()).encode()
    operations = [{"op": "create", "link": _link(number)} for number in range(IN_BULK)]
    many = json.dumps({"operations": operations}).encode()

    async def driver() -> list[Sender]:
        return [_pair_of_inserts(database) for _ in range(CONNECTIONS)]

    async def driver_bulk() -> list[Sender]:
        return [_transaction_of_inserts(database)]

    async def senders(path: str, body: bytes, links: int, connections: int) -> list[Sender]:
        return [await _sender(base_url, key, path, body, links) for _ in range(connections)]

    return {
        DRIVER: driver,
        CREATE_LINK: lambda: senders("/create-link", one, 1, CONNECTIONS),
        POST_LINK: lambda: senders("/links", one, 1, CONNECTIONS),
        ONE_BY_ONE: lambda: senders("/links", one, 1, 1),
        BULK: lambda: senders("/links/bulk", many, IN_BULK, 1),
        DRIVER_BULK: driver_bulk,
    }


async def _report(
    kinds: dict[str, Callable[[], Awaitable[list[Sender]]]],
    seconds: float,
    rounds: int,
    service: ServiceProcess,
) -> None:
    for senders in kinds.values():  # to warm up
        await _rate(await senders(), 0.5)
    rates: dict[str, list[float]] = {name: [] for name in kinds}
    used: dict[str, list[float]] = {name: [] for name in kinds}
    for _ in range(rounds):
        for name, senders in kinds.items():
            ready, before = await senders(), _processor_seconds(service)
            rates[name].append(rate := await _rate(ready, seconds))
            used[name].append((_processor_seconds(service) - before) / (rate * seconds) * 1_000)
    for name, measured in rates.items():
        shown = (
            "" if name == DRIVER else f"   {statistics.median(used[name]):.3f} ms of the service's processor"
        )
        print(f"{name:<36} {statistics.median(measured):>9,.0f} a second{shown}")
    for name, other, target in (
        (CREATE_LINK, DRIVER, 1),
        (POST_LINK, DRIVER, 1),
        (BULK, ONE_BY_ONE, 10),
        (BULK, CREATE_LINK, 10),
        (BULK, POST_LINK, 10),
        (BULK, DRIVER_BULK, None),
    ):
        ratios = [mine / theirs for mine, theirs in zip(rates[name], rates[other], strict=True)]
        print(f"{name} / {other}: {spread(ratios)}{f' (target: at least {target})' if target else ''}")


def _processor_seconds(service: ServiceProcess) -> float:
    return sum(map(cpu_seconds_of, service.workers))


async def _organization(database: Database) -> str:
    """A REST key of a new organization that has a domain."""
    now = datetime.now(UTC)
    org_id = (await organizations.create_organization(database, "Benchmark", now)).id
    await domains.insert_domain(database, DOMAIN, org_id, now)
    return (await api_keys.create_api_key(database, org_id, KeyKind.REST, now))[0]


async def _rate(senders: list[Sender], seconds: float) -> float:
    """What these senders get made together in a second."""
    began = time.perf_counter()

    async def run(send: Sender) -> int:
        made = 0
        while time.perf_counter() < began + seconds:
            made += await send()
        return made

    made = sum(await asyncio.gather(*(run(send) for send in senders)))
    return made / (time.perf_counter() - began)


def _pair_of_inserts(database: Database) -> Sender:
    collection = database["pairs_of_inserts"]

    async def send() -> int:
        for _ in range(2):
            await collection.insert_one(_link() | {"_id": str(uuid.uuid4()), "at": datetime.now(UTC)})
        return 1

    return send


def _transaction_of_inserts(database: Database) -> Sender:
    now = datetime.now(UTC)
    new = parse_new_link(_link())
    link = new.to_link("", link_id=LinkId(""), org_id=OrgId("o"), created_by=CreatedBy.REST, now=now)
    like = links.to_document(link)

    async def send() -> int:
        documents = [like | {"_id": link_id, "path": link_id} for link_id in random_ids(IN_BULK)]

        async def insert(session: ClientSession) -> None:
            await database[links.NAME].insert_many(documents, session=session)

        await in_transaction(database, insert)
        return IN_BULK

    return send


async def _sender(base_url: str, key: str, path: str, body: bytes, links: int) -> Sender:
    """A sender of this body, over one connection."""
    address = urlsplit(base_url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    head = (
        f"POST {API}{path} HTTP/1.1\r\nHost: {address.netloc}\r\nAPI-KEY: {key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode()

    async def send() -> int:
        writer.write(head + body)
        status, answer = await _read_answer(reader)
        made = answer.count(b'"created"') if links > 1 else int(status == 201)
        assert made == links, answer[:500]
        return made

    return send


async def _read_answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    _, _, rest = head.partition(b"content-length:")
    return int(head.split(b" ", 2)[1]), await reader.readexactly(int(rest.partition(b"\r\n")[0]))


def _link(number: int = 0) -> dict[str, Any]:
    return {
        "domain": DOMAIN,
        "destination_url": f"https://shop.example/kites/{number}?color=red",
        "link_name": f"Kite {number} in spring",
        "utm_source": "newsletter",
        "utm_medium": "email",
        "utm_campaign": "spring",
    }


if __name__ == "__main__":
    main()
