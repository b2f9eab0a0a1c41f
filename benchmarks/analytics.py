"""The time of POST /analytics where an organization has five million clicks, and where it has ten.

`python -m benchmarks.analytics` starts a MongoDB with a year of clicks on 40,000 links, and the service. Then
it asks for a link of an organization with ten clicks, and for two of the one with all the others, in turns
and without a network in between. The ratios of the medians should be 3 at most. Each answer waits until
everything is read that was committed when it was asked for.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta

import httpx

from backend.app import create_app
from backend.domain.accounts.api_keys import KeyKind
from backend.domain.ids import LinkId
from backend.storage.accounts import api_keys
from backend.storage.analytics.clicks.click_windows import ClicksOfLinks
from backend.storage.analytics.client import Analytics
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from benchmarks.data.kept_year import Year, kept_year, options
from benchmarks.measuring.analytics_process import AnalyticsProcess, until_ready
from benchmarks.measuring.asking import Taken
from tests.api.link_calls import API, create, info
from tests.facts.clicks import click, ship
from tests.facts.organizations import create_test_organization

_FEW = 10
_TARGET = 3


@dataclass(frozen=True, slots=True)
class _Link:
    """A link, what it is, and the headers of a call by its organization."""

    name: str
    link_id: LinkId
    headers: dict[str, str]


def main() -> None:
    """Measure and print."""
    parser = options(__doc__.partition("\n")[0])
    parser.add_argument("--requests", type=int, default=200, help="requests for each link")
    asyncio.run(_measure(parser.parse_args()))


async def _measure(asked: argparse.Namespace) -> None:
    async with kept_year(asked) as year, _service(year) as client:
        links = [await _clicked_link(client, year.database), *await _links_of(year)]
        for link in links:
            await _ask(client, link)
        process = AnalyticsProcess(year.settings.data_dir)
        taken = {link.name: Taken() for link in links}
        for number in range(asked.requests):
            print(f"\r  request {number + 1} of {asked.requests} for each", end="", flush=True)
            for link in links:
                await _take(client, link, process, taken[link.name])
    print(f"\rPOST /analytics, {year.amounts}, medians:")
    _print(taken)


@asynccontextmanager
async def _service(year: Year) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the service, which runs in this process, once all facts are in columns."""
    service = create_app(replace(year.settings, rate_limit=10**9))
    await service.startup()
    try:
        await until_ready(service.resources.analytics, year.org_id)
        transport = httpx.ASGITransport(app=service)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=60) as client:
            yield client
    finally:
        await service.shutdown()


async def _clicked_link(client: httpx.AsyncClient, database: Database) -> _Link:
    """A link of a new organization, clicked ten times."""
    organization = await create_test_organization(database)
    link_id = LinkId((await info(client, organization, await create(client, organization)))["id"])
    await ship(database, [click(organization.id, link_id, utc_now()) for _ in range(_FEW)])
    return _Link(f"of {_FEW} clicks in all", link_id, organization.headers)


async def _links_of(year: Year) -> list[_Link]:
    """The link with most clicks, and the one in the middle."""
    analytics = Analytics(year.database, year.settings)
    clicks = await analytics.ask(year.org_id, ClicksOfLinks(year.until - timedelta(days=366)))
    await analytics.close()
    key, _ = await api_keys.create_api_key(year.database, year.org_id, KeyKind.REST, utc_now())
    by_clicks = sorted(clicks, key=clicks.__getitem__)
    return [
        _Link(f"{clicks[link_id]:,} of {year.amounts.clicks:,} clicks", link_id, {"API-KEY": key})
        for link_id in (by_clicks[len(by_clicks) // 2], by_clicks[-1])
    ]


async def _take(client: httpx.AsyncClient, link: _Link, process: AnalyticsProcess, taken: Taken) -> None:
    began, used = time.perf_counter(), time.process_time() + process.cpu_seconds
    await _ask(client, link)
    taken.seconds.append(time.perf_counter() - began)
    taken.processor.append(time.process_time() + process.cpu_seconds - used)


async def _ask(client: httpx.AsyncClient, link: _Link) -> None:
    answer = await client.post(f"{API}/analytics", json={"linkId": link.link_id}, headers=link.headers)
    answer.raise_for_status()


def _print(taken: dict[str, Taken]) -> None:
    few, *_ = taken.values()
    for name, of_link in taken.items():
        pairs = zip(of_link.seconds, few.seconds, strict=True)
        ratio = statistics.median(one / other for one, other in pairs)
        print(
            f"  {name:<32} {of_link.median * 1000:6.1f} ms, processor time {of_link.used * 1000:6.1f} ms, "
            f"ratio {ratio:.2f}, by processor time {of_link.used / few.used:.2f}"
        )
    print(f"  target: a ratio of {_TARGET} at most")


if __name__ == "__main__":
    main()
