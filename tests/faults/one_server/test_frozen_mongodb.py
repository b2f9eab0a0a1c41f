"""MongoDB hangs: it neither answers nor closes connections. Who does not need it notices nothing, who does is
told soon, and the service stops in time."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from backend.environment import load_settings
from backend.storage.database import Indexes, open_database
from tests.api.link_calls import API, create
from tests.facts.organizations import TestOrganization, create_test_organization
from tests.facts.sdk_batches import Visitor, call
from tests.faults.load import Load
from tests.faults.outcomes import Outcome, TellOutcome
from tests.polling import wait_for_async
from tests.processes.replica_set import ReplicaSet
from tests.processes.service_process import ServiceProcess, service_process

ASSET_LINKS = "/.well-known/assetlinks.json"
# What it should take, in seconds, and what a busy machine may add.
UNCACHED, ANSWER, STOP = 1.0, 2.0, 10.0
NOISE = 1.0
# Seconds for which visitors come as fast as they can.
MEASURED = 0.7
Tell = Callable[[str], None]


@pytest.fixture
async def organization(service: ServiceProcess) -> TestOrganization:
    """An organization in it; the service has seen that it goes on."""
    await is_ready(service)
    settings = load_settings(service.environment, Path("none"))
    async with open_database(settings, Indexes.LEAVE) as database:
        return await create_test_organization(database)


@pytest.fixture(scope="module")
def service(own: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    """A service on it that asks again for a link every second."""
    data_dir = tmp_path_factory.mktemp("data")
    with service_process(data_dir, **own, WAYLINK_LINK_CACHE_SECONDS="1") as service:
        yield service


async def is_ready(service: ServiceProcess) -> None:
    """Return once the service reaches its MongoDB."""
    async with httpx.AsyncClient(base_url=service.base_url, timeout=60) as client:
        await wait_for_async(
            lambda: client.get("/readyz"), "not ready", lambda answer: answer.status_code == 200
        )


@pytest.fixture
async def client(service: ServiceProcess) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the API."""
    async with httpx.AsyncClient(base_url=service.base_url, timeout=60) as client:
        yield client


@dataclass(frozen=True, slots=True)
class Visits:
    """Visitors of an organization's domain."""

    service: ServiceProcess
    domain: str
    client: httpx.AsyncClient

    async def rate(self, path: str, seconds: float, pause: float = 0.0) -> float:
        """How many redirects a second four visitors get, who pause so long; everything else is an error."""
        ends, done = time.monotonic() + seconds, itertools.count()

        async def visit_often() -> None:
            while time.monotonic() < ends:
                assert (await self.get(path))[0] == 302
                next(done)
                await asyncio.sleep(pause)

        await asyncio.gather(*(visit_often() for _ in range(4)))
        return next(done) / seconds

    async def get(self, path: str, domain: str | None = None) -> tuple[int, float]:
        """The status of a visit, and the seconds that it took."""
        headers = {"host": domain or self.domain}
        return await timed(lambda: self.client.get(self.service.base_url + path, headers=headers))


async def timed(ask: Callable[[], Any]) -> tuple[int, float]:
    """The status of an answer, and the seconds until it came; 503 must say when to come again."""
    began = time.monotonic()
    answer = await ask()
    took = time.monotonic() - began
    assert answer.status_code != 503 or int(answer.headers["Retry-After"]) > 0
    return answer.status_code, took


def path_of(short_url: str) -> str:
    """The path of a short URL, with its slash."""
    return "/" + short_url.rpartition("/")[2]


async def test_links_in_memory_are_as_fast_as_before(
    service: ServiceProcess,
    client: httpx.AsyncClient,
    organization: TestOrganization,
    members: ReplicaSet,
    tell: Tell,
) -> None:
    """Cached redirects go on at their pace, although strangers ask for what only the database knows."""
    path = path_of(await create(client, organization))
    visits = Visits(service, organization.domain, client)
    await is_ready(service)
    await visits.rate(path, 0.2)
    before = await visits.rate(path, MEASURED)
    with members.frozen():
        hosts = [f"stranger{number}.example" for number in range(12)]
        strangers = [asyncio.create_task(visits.get(ASSET_LINKS, host)) for host in hosts]
        # Once the time to live is over, those who come within a quarter of a second wait for its end.
        await visits.rate(path, 1.5, pause=0.02)
        during = await visits.rate(path, MEASURED)
        answers = await asyncio.gather(*strangers)
    assert {status for status, _ in answers} == {503}
    assert max(took for _, took in answers) < UNCACHED + NOISE
    ratio = f"{during / before:.2f} of {before:.0f} before"
    tell(f"MongoDB frozen: {during:.0f} cached redirects a second, {ratio}")
    assert during > before / 8


async def test_what_is_not_in_memory_is_refused_soon(
    service: ServiceProcess,
    client: httpx.AsyncClient,
    organization: TestOrganization,
    members: ReplicaSet,
    tell: Tell,
) -> None:
    """Fifty visitors of links that no process knows get 503 within a second, from the first on."""
    visits = Visits(service, organization.domain, client)
    await visits.get("/unknown")
    with members.frozen():
        answers = await asyncio.gather(*(visits.get(f"/unknown{number}") for number in range(50)))
    slowest = max(took for _, took in answers)
    tell(f"MongoDB frozen: 50 links that are not in memory, 503 within {slowest:.2f} s")
    assert {status for status, _ in answers} == {503}
    assert slowest < UNCACHED + NOISE


async def test_the_apis_answer_503_soon(
    client: httpx.AsyncClient, organization: TestOrganization, members: ReplicaSet, tell: Tell
) -> None:
    """REST calls and batches of the SDK get 503 within two seconds, those under way and those that come, in a
    form that browsers may read; the service is alive and not ready."""
    visitor = Visitor(client, organization)
    short_url = await create(client, organization)
    assert (await visitor.result(call("event", name="e")))["status"] == "accepted"
    asked: dict[str, Callable[[], Any]] = {
        "create": lambda: create_link(client, organization),
        "info": lambda: client.post(
            f"{API}/links/info", json={"shortUrl": short_url}, headers=organization.headers
        ),
        "batch": lambda: visitor.post(call("event", name="e")),
    }
    slowest = dict.fromkeys(asked, 0.0)
    with members.frozen():
        for _ in range(2):
            answers = await asyncio.gather(*(timed(ask) for ask in asked.values() for _ in range(4)))
            assert {status for status, _ in answers} == {503}
            for number, name in enumerate(asked):
                slowest[name] = max(slowest[name], *(took for _, took in answers[number * 4 :][:4]))
        refused = await visitor.post(call("event", name="e"))
        assert (refused.status_code, refused.json()["code"]) == (503, 503)
        assert refused.headers["Access-Control-Allow-Origin"] == organization.origin
        for path, status in (("/healthz", 200), ("/readyz", 503)):
            assert (await client.get(path)).status_code == status
    tell("MongoDB frozen, 503 within: " + ", ".join(f"{name} {took:.2f} s" for name, took in slowest.items()))
    assert max(slowest.values()) < ANSWER + NOISE


async def create_link(client: httpx.AsyncClient, organization: TestOrganization) -> httpx.Response:
    """Ask for a new link."""
    body = {"domain": organization.domain, "destination_url": "https://shop.example", "link_name": "n"}
    return await client.post(f"{API}/create-link", json=body, headers=organization.headers)


async def test_the_apis_answer_again_when_it_is_back(
    service: ServiceProcess,
    client: httpx.AsyncClient,
    organization: TestOrganization,
    members: ReplicaSet,
    times_as_long: int,
    tell: Tell,
    outcome: TellOutcome,
) -> None:
    """After a hang of seconds under load, a batch is stored within seconds: nothing stays locked.

    What was acknowledged is stored.
    """
    visitor = Visitor(client, organization)
    load = Load(service.base_url, organization, path="")
    browsers = [asyncio.create_task(load.send_batches()) for _ in range(4)]
    await is_stored(visitor)
    seconds = 3 * times_as_long
    with members.frozen():
        await asyncio.sleep(seconds)  # the hang itself
    back = time.monotonic()
    await is_stored(visitor)
    took = time.monotonic() - back
    load.stopped.set()
    await asyncio.gather(*browsers)
    call_ids = [event["_id"].rpartition("/")[2] for event in service.stored("events", org_id=organization.id)]
    stored = sum(call_id in load.acknowledged for call_id in call_ids)
    outcome(Outcome(f"MongoDB hung for {seconds} s (events)", len(load.acknowledged), stored))
    assert 0 < len(load.acknowledged) == stored
    tell(f"MongoDB frozen for {seconds} s: the first batch is stored {took:.2f} s after it goes on")
    assert took < 5


async def is_stored(visitor: Visitor) -> None:
    """Send a batch until it is stored."""
    await wait_for_async(
        lambda: visitor.post(call("event", name="e")),
        "no batch is stored",
        lambda answer: answer.status_code == 200,
        seconds=60,
    )


async def test_stopping_does_not_wait_for_it(
    members: ReplicaSet, own: dict[str, str], organization: TestOrganization, tmp_path: Path, tell: Tell
) -> None:
    """SIGTERM with clicks that can't be shipped and requests under way: exit code 0 within ten seconds."""
    with service_process(tmp_path, **own, WAYLINK_WORKERS="2") as service:
        limits = httpx.Limits(max_keepalive_connections=0)
        async with httpx.AsyncClient(base_url=service.base_url, timeout=60, limits=limits) as client:
            path = path_of(await create(client, organization))
            visits = Visits(service, organization.domain, client)
            await visits.rate(path, 0.3, pause=0.01)
        with members.frozen():
            began = time.monotonic()
            assert await asyncio.to_thread(service.stop) == 0
            took = time.monotonic() - began
    tell(f"MongoDB frozen: two workers stopped {took:.1f} s after SIGTERM")
    assert took < STOP
