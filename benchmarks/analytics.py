"""The time of POST /analytics for a link with ten clicks, and for one with five million.

`python -m benchmarks.analytics` starts a MongoDB and the service and counts the clicks as the click shipper
does (spread over the last 60 days, so that both windows start among them). Then it asks for the two links in
turns, without a network in between. The ratio of the medians should be 2 at most.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import httpx

from backend.app import create_app
from backend.clock import utc_now
from backend.domain.ids import LinkId
from backend.settings import Settings
from backend.storage import click_counts
from backend.storage.counters import add_moments
from backend.storage.embedded_mongodb import EmbeddedMongoDB
from backend.storage.mongo import Database
from tests.api.links import API, create, info
from tests.organizations import TestOrganization, create_test_organization

FEW = 10
_BATCH = 250_000
_DAYS = 60


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--clicks", type=int, default=5_000_000, help="clicks of the busy link")
    options.add_argument("--requests", type=int, default=400, help="requests for each link")
    asked = options.parse_args()
    asyncio.run(_measure(asked.clicks, asked.requests))


async def _measure(many: int, requests: int) -> None:
    with tempfile.TemporaryDirectory(prefix="waylink-bench-") as folder:
        async with EmbeddedMongoDB(Path(folder) / "mongodb") as server:
            settings = Settings(mongodb_uri=server.uri, data_dir=Path(folder), rate_limit=10**9)
            service = create_app(settings)
            await service.startup()
            database = service.resources.database
            organization = await create_test_organization(database)
            transport = httpx.ASGITransport(app=service)
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
                links = {
                    count: await _clicked_link(client, database, organization, count) for count in (FEW, many)
                }
                _print(await _medians(client, organization, links, requests))
            await service.shutdown()


async def _clicked_link(
    client: httpx.AsyncClient, database: Database, organization: TestOrganization, clicks: int
) -> LinkId:
    link_id = LinkId((await info(client, organization, await create(client, organization)))["id"])
    for start in range(0, clicks, _BATCH):
        count = min(_BATCH, clicks - start)
        moments = ((organization.id, link_id, at) for at in _moments(count, utc_now()))
        await add_moments(database, click_counts.NAME, None, moments)
    answer = await _ask(client, organization, link_id)
    assert answer["total_clicks"] == clicks, answer
    return link_id


def _moments(count: int, now: datetime) -> Iterator[datetime]:
    """Times of clicks in bursts: a thousand in the same second, at random seconds of the last days."""
    drawn = random.Random(count)  # noqa: S311 - no secret is drawn
    while count > 0:
        at = now - timedelta(seconds=drawn.randrange(_DAYS * 86400))
        burst = min(count, 1000)
        yield from [at] * burst
        count -= burst


async def _medians(
    client: httpx.AsyncClient, organization: TestOrganization, links: dict[int, LinkId], requests: int
) -> dict[int, float]:
    seconds: dict[int, list[float]] = {count: [] for count in links}
    for _ in range(requests):
        for count, link_id in links.items():
            started = time.perf_counter()
            await _ask(client, organization, link_id)
            seconds[count].append(time.perf_counter() - started)
    return {count: statistics.median(taken) for count, taken in seconds.items()}


async def _ask(client: httpx.AsyncClient, organization: TestOrganization, link_id: LinkId) -> dict[str, int]:
    answer = await client.post(f"{API}/analytics", json={"linkId": link_id}, headers=organization.headers)
    counts: dict[str, int] = answer.raise_for_status().json()
    return counts


def _print(medians: dict[int, float]) -> None:
    print("POST /analytics, median:")
    for count, median in medians.items():
        print(f"  {count:>9,} clicks  {median * 1000:6.2f} ms")
    few, many = medians.values()
    print(f"  ratio  {many / few:.2f}  (target: 2 at most)")


if __name__ == "__main__":
    main()
