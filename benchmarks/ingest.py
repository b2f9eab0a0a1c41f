"""Calls per second that the batch endpoint stores, compared with single inserts of the same write concern.

`python -m benchmarks.ingest` starts a MongoDB and the service, as `waylink serve` runs it. In one run it
measures, each for some seconds and with the same number of senders:

- single inserts: one `insert_one` for each call with `w: majority`, without the service and without anything
else: no key, no origin, no validation, no mark against double counting, no touch;

- the endpoint: requests over loopback. Every call is validated, stored once, and answered when it is stored.

The service, MongoDB and the senders share the cores of this machine, so the numbers are low. What counts is
their ratio.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import tempfile
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import uvloop

from backend.domain.api_keys import KeyKind
from backend.settings import Settings
from backend.storage import api_keys, organizations, origins
from backend.storage.database import open_database
from backend.storage.embedded_mongodb import EmbeddedMongoDB
from backend.storage.mongo import Database
from tests.service_process import service_process

SENDERS = 64
BATCH_SIZES = (50, 10, 1)
ORIGIN = "https://shop.example"
# All senders share one address and one key, unlike those of a real site.
NO_LIMITS = {"WAYLINK_ADDRESS_CALL_LIMIT": "1000000000", "WAYLINK_KEY_CALL_LIMIT": "1000000000"}
# Sends one request and returns the number of stored calls.
Sender = Callable[[], Awaitable[int]]


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--seconds", type=float, default=5.0, help="how long each measurement takes")
    uvloop.run(_measure_all(options.parse_args().seconds))


async def _measure_all(seconds: float) -> None:
    with tempfile.TemporaryDirectory(prefix="waylink-bench-") as folder:
        async with EmbeddedMongoDB(Path(folder) / "mongodb") as server:
            settings = replace(Settings(), mongodb_uri=server.uri, data_dir=Path(folder))
            async with open_database(settings) as database:
                await _measure(database, settings, seconds)


async def _measure(database: Database, settings: Settings, seconds: float) -> None:
    key = await _site(database)
    single = await _rate([_single_insert(database) for _ in range(SENDERS)], seconds)
    _print("single inserts, w: majority, no service", single, single)
    uri = str(settings.mongodb_uri)
    with service_process(settings.data_dir / "service", WAYLINK_MONGODB_URI=uri, **NO_LIMITS) as service:
        for size in BATCH_SIZES:
            senders = [await _batch_sender(service.base_url, key, size) for _ in range(SENDERS)]
            _print(f"batch endpoint, {size} calls a request", await _rate(senders, seconds), single)
    for name in ("calls", "events"):
        print(f"stored in {name}: {await database[name].count_documents({})}")


async def _site(database: Database) -> str:
    """A web key of a new organization that allows an origin."""
    now = datetime.now(UTC)
    org_id = (await organizations.create_organization(database, "Benchmark", now)).id
    await origins.add_origin(database, ORIGIN, org_id, now)
    return (await api_keys.create_api_key(database, org_id, KeyKind.WEB, now))[0]


async def _rate(senders: list[Sender], seconds: float) -> float:
    """The calls per second that these senders get stored together, after one second to warm up."""
    await _send_until(senders, time.perf_counter() + 1)
    began = time.perf_counter()
    stored = await _send_until(senders, began + seconds)
    return stored / (time.perf_counter() - began)


async def _send_until(senders: list[Sender], deadline: float) -> int:
    async def run(send: Sender) -> int:
        stored = 0
        while time.perf_counter() < deadline:
            stored += await send()
        return stored

    return sum(await asyncio.gather(*(run(send) for send in senders)))


def _single_insert(database: Database) -> Sender:
    collection = database["single_inserts"]

    async def send() -> int:
        now = datetime.now(UTC)
        await collection.insert_one(
            {
                "_id": f"{uuid.uuid4()}/{uuid.uuid4()}",
                "name": "added_to_cart",
                "page": "https://shop.example/kites",
                "at": now,
                "occurred_at": now,
            }
        )
        return 1

    return send


async def _batch_sender(base_url: str, key: str, size: int) -> Sender:
    """A sender of batches with `size` events each, over one connection. Every call has a new id."""
    address = urlsplit(base_url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    head, tail = _envelope(key)
    request = _request_head(address.netloc)

    async def send() -> int:
        body = head + b",".join(_call() for _ in range(size)) + tail
        writer.write(request + f"{len(body)}\r\n\r\n".encode() + body)
        answer = await _read_answer(reader)
        accepted = answer.count(b'"accepted"')
        assert accepted == size, answer
        return accepted

    return send


def _envelope(key: str) -> tuple[bytes, bytes]:
    sent_at = datetime.now(UTC).isoformat()
    envelope = {"api_key": key, "device_id": str(uuid.uuid4()), "sdk": "bench", "sent_at": sent_at}
    head, tail = json.dumps(envelope | {"calls": ["CALLS"]}).split('"CALLS"')
    return head.encode(), tail.encode()


def _call() -> bytes:
    digits = os.urandom(16).hex()
    call_id = "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
    call = {
        "kind": "event",
        "call_id": call_id,
        "occurred_at": "2026-01-01T00:00:00Z",
        "page": "https://shop.example/kites",
        "name": "added_to_cart",
    }
    return json.dumps(call).encode()


def _request_head(host: str) -> bytes:
    lines = (
        "POST /serviceCore/sdk/v1/batch HTTP/1.1",
        f"Host: {host}",
        f"Origin: {ORIGIN}",
        "Content-Type: text/plain;charset=UTF-8",
        "Content-Length: ",
    )
    return "\r\n".join(lines).encode()


async def _read_answer(reader: asyncio.StreamReader) -> bytes:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    _, _, rest = head.partition(b"content-length:")
    return await reader.readexactly(int(rest.partition(b"\r\n")[0]))


def _print(name: str, rate: float, single: float) -> None:
    print(f"{name:<42} {rate:>9,.0f} calls/s {rate / single:>6.1f} x", flush=True)


if __name__ == "__main__":
    main()
