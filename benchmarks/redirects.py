"""Redirects a second with clicks recorded, beside an empty 302 from a raw ASGI app on the same server.

`python -m benchmarks.redirects` starts a MongoDB, and by turns two servers, each one Hypercorn process with
uvloop: the empty app, and the service with one link. wrk asks each of them several times, by turns, so that
both meet the same noise; the medians and their ratio are printed. wrk, MongoDB and the server share this
machine's cores, so that the ratio counts and not the numbers. At the end it waits until the service has
counted every click that wrk had an answer for.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from backend.domain.links import Link
from backend.settings import Settings
from backend.storage import domains, links, organizations
from backend.storage.click_counts import count_window
from backend.storage.database import open_database
from backend.storage.embedded_mongodb import EmbeddedMongoDB
from tests.service_process import free_port, service_process

DOMAIN = "go.bench.localhost"
_EMPTY = """
import socket, sys, uvloop, asyncio
from hypercorn.asyncio import serve
from hypercorn.config import Config
async def app(scope, receive, send):
    if scope["type"] == "http":
        headers = [(b"location", b"https://shop.example/kites"), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 302, "headers": headers})
        await send({"type": "http.response.body", "body": b""})
config = Config()
config.bind = ["127.0.0.1:" + sys.argv[1]]
config.loglevel = "WARNING"
config.include_server_header = False
uvloop.run(serve(app, config))
"""


@dataclass(frozen=True, slots=True)
class Run:
    """What wrk measured: requests a second, the 99th percentile in milliseconds, and all answers."""

    rate: float
    p99: float
    answers: int


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--seconds", type=int, default=5, help="how long each measurement takes")
    options.add_argument("--rounds", type=int, default=5, help="how many measurements of each")
    given = options.parse_args()
    if not shutil.which("wrk"):
        sys.exit("The benchmark needs wrk: apt-get install wrk")
    asyncio.run(_measure(given.seconds, given.rounds))


async def _measure(seconds: int, rounds: int) -> None:
    with tempfile.TemporaryDirectory(prefix="waylink-bench-") as folder:
        async with EmbeddedMongoDB(Path(folder) / "mongodb") as server:
            settings = replace(Settings(), mongodb_uri=server.uri, data_dir=Path(folder))
            link = await _store_link(settings)
            with (
                _empty_app() as empty_url,
                service_process(Path(folder), WAYLINK_MONGODB_URI=server.uri) as service,
            ):
                runs = [
                    (await _wrk(empty_url, 1), await _wrk(f"{service.base_url}/{link.path}", 1))
                    for _ in range(1)  # not counted: it fills caches
                ]
                memory_before = _memory(service.process.pid)
                measured = [
                    (await _wrk(empty_url, seconds), await _wrk(f"{service.base_url}/{link.path}", seconds))
                    for _ in range(rounds)
                ]
                memory_after = _memory(service.process.pid)
                _report([pair[0] for pair in measured], [pair[1] for pair in measured])
                print(f"memory of the service: {memory_before} MB before, {memory_after} MB after")
                await _report_counted(settings, link, sum(pair[1].answers for pair in [*runs, *measured]))


def _report(empty: list[Run], service: list[Run]) -> None:
    rates = [statistics.median(run.rate for run in runs) for runs in (empty, service)]
    slowest = [statistics.median(run.p99 for run in runs) for runs in (empty, service)]
    print(f"empty 302:            {rates[0]:8.0f}/s  p99 {slowest[0]:6.1f} ms")
    print(f"redirect and click:   {rates[1]:8.0f}/s  p99 {slowest[1]:6.1f} ms")
    print(f"ratio of rates {rates[1] / rates[0]:.2f}, of p99 {slowest[1] / slowest[0]:.2f} (medians)")


async def _report_counted(settings: Settings, link: Link, answers: int) -> None:
    began = time.monotonic()
    async with open_database(settings) as database:
        counted = 0
        while counted < answers and time.monotonic() < began + 300:
            counted = (await count_window(database, link.id, datetime.now(UTC))).total
            await asyncio.sleep(0.2)
    waited = time.monotonic() - began
    print(f"answers {answers}, counted {counted}, {waited:.1f} s after the last one")


async def _store_link(settings: Settings) -> Link:
    now = datetime.now(UTC)
    async with open_database(settings) as database:
        org_id = (await organizations.create_organization(database, "Bench", now)).id
        await domains.insert_domain(database, DOMAIN, org_id, now)
        link = Link(
            str(uuid.uuid4()), org_id, DOMAIN, "kites", "https://shop.example/kites", "Kites", now, now
        )
        await links.insert_link(database, link)
    return link


@contextmanager
def _empty_app() -> Iterator[str]:
    port = free_port()
    with subprocess.Popen([sys.executable, "-c", _EMPTY, str(port)]) as process:  # noqa: S603 - our own text
        time.sleep(1.5)
        try:
            yield f"http://127.0.0.1:{port}/kites"
        finally:
            process.terminate()


async def _wrk(url: str, seconds: int) -> Run:
    command = ["wrk", "-t1", "-c32", f"-d{seconds}s", "--latency", "-H", f"Host: {DOMAIN}", url]
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    printed = (await process.communicate())[0].decode()
    rate, answers = re.search(r"Requests/sec: *([\d.]+)", printed), re.search(r"(\d+) requests in", printed)
    p99 = re.search(r"99% *([\d.]+)(us|ms|s)\b", printed)
    assert rate, printed
    assert p99, printed
    assert answers, printed
    assert "Non-2xx or 3xx" not in printed, printed
    milliseconds = float(p99[1]) * {"us": 0.001, "ms": 1, "s": 1000}[p99[2]]
    return Run(float(rate[1]), milliseconds, int(answers[1]))


def _memory(pid: int) -> int:
    """Resident megabytes of a process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * resource.getpagesize() // 1_000_000


if __name__ == "__main__":
    main()
