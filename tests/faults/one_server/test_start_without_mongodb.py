"""The service starts, and its workers are replaced, while MongoDB is away; and MongoDB restarts below it."""

from __future__ import annotations

import asyncio
import os
import signal
from collections import Counter
from pathlib import Path

import httpx
import pytest

from backend.environment import load_settings
from backend.storage.database import open_database
from tests.api.link_calls import API, create
from tests.facts.organizations import TestOrganization, create_test_organization
from tests.facts.sdk_batches import Visitor, call
from tests.faults.outcomes import Outcome, TellOutcome
from tests.polling import until, wait_for
from tests.processes.replica_set import ReplicaSet
from tests.processes.service_process import ServiceProcess, service_process

# What the driver does not know as temporary: MaxTimeMSExpired, Interrupted, LockTimeout, LockFailed,
# WriteConflict, NoSuchTransaction, TransactionExceededLifetimeLimitSeconds.
TEMPORARY = (50, 11601, 24, 46, 112, 251, 290)
FAULT = 2  # BadValue


@pytest.fixture
async def organization(own: dict[str, str]) -> TestOrganization:
    """An organization, stored on the server."""
    async with open_database(load_settings(own, Path("none"))) as database:
        return await create_test_organization(database)


def visit(service: ServiceProcess, organization: TestOrganization, path: str) -> httpx.Response:
    """A visit of a link on a connection of its own."""
    return httpx.get(f"{service.base_url}{path}", headers={"host": organization.domain}, timeout=30)


def list_links(service: ServiceProcess, organization: TestOrganization) -> httpx.Response:
    """A call of the REST API."""
    return httpx.get(f"{service.base_url}{API}/links/page", headers=organization.headers, timeout=30)


def count(service: ServiceProcess, organization: TestOrganization, short_url: str) -> int:
    """What the analytics say of the link's clicks; -1 where they say nothing."""
    answer = httpx.post(
        f"{service.base_url}{API}/analytics",
        json={"shortUrl": short_url},
        headers=organization.headers,
        timeout=30,
    )
    return int(answer.json().get("total_clicks", -1))


async def test_links_redirect_after_a_start_without_mongodb(
    members: ReplicaSet,
    own: dict[str, str],
    organization: TestOrganization,
    tmp_path: Path,
    outcome: TellOutcome,
) -> None:
    """They come from the file; the rest is 503 until MongoDB is back; a killed worker is replaced."""
    with service_process(tmp_path, **own) as before:
        wait_for((tmp_path / "links.cache").exists, "there is no file of links")
        async with httpx.AsyncClient(base_url=before.base_url, timeout=30) as client:
            short_url = await create(client, organization)
            root = {"root_url": "https://shop.example/", "brand": {"name": "Kites of the file"}}
            domain = f"{API}/domains/{organization.domain}"
            assert (await client.patch(domain, json=root, headers=organization.headers)).status_code == 200
        path = "/" + short_url.rpartition("/")[2]
        wait_for(lambda: visit(before, organization, "/").status_code == 302, "the root leads nowhere")
        assert visit(before, organization, path).status_code == 302
    with members.frozen(), service_process(tmp_path, **own) as service:
        assert visit(service, organization, path).headers["location"].startswith("https://shop.example/sale")
        killed = min(service.workers)
        os.kill(killed, signal.SIGKILL)
        wait_for(lambda: service.workers - {killed}, "the worker is not replaced")
        assert visit(service, organization, path).status_code == 302
        assert visit(service, organization, "/").headers["location"] == "https://shop.example/"
        unknown = visit(service, organization, "/unknown")
        assert "Kites of the file" in unknown.text
        links = list_links(service, organization)
        for refused in (unknown, links):
            assert refused.status_code == 503
            assert int(refused.headers["Retry-After"]) > 0
        members.members[members_port(members)].send_signal(signal.SIGCONT)
        counted = wait_for(
            lambda: count(service, organization, short_url),
            "the clicks of the outage are not counted",
            lambda counted: counted == 3,
            seconds=60,
        )
    outcome(Outcome("start without MongoDB, worker killed", 3, counted))


def members_port(members: ReplicaSet) -> int:
    """The port of the only member."""
    (port,) = members.members
    return port


async def test_a_restart_of_mongodb_is_503(
    members: ReplicaSet,
    own: dict[str, str],
    organization: TestOrganization,
    tmp_path: Path,
    times_as_long: int,
    outcome: TellOutcome,
) -> None:
    """What a server may say then is 503, a fault of ours stays 500; and under load no answer is one."""
    answers: Counter[int] = Counter()
    made: set[str] = set()
    stop = asyncio.Event()
    with service_process(tmp_path, **own, WAYLINK_LINK_CACHE_SECONDS="0.01") as service:
        for code in TEMPORARY:
            members.fail_commands("find", code=code)
            assert list_links(service, organization).status_code == 503, code
        members.fail_commands("find", code=FAULT)
        assert list_links(service, organization).status_code == 500
        members.fail_commands()
        # A new connection for each request: an idle one may be closed as it is used.
        limits = httpx.Limits(max_keepalive_connections=0)
        async with httpx.AsyncClient(base_url=service.base_url, timeout=30, limits=limits) as client:
            visitor = Visitor(client, organization)
            body = {"domain": organization.domain, "destination_url": "https://a.example", "link_name": "n"}

            async def load() -> None:
                while not stop.is_set():
                    for asked in (
                        client.post(f"{API}/create-link", json=body, headers=organization.headers),
                        client.get(f"{API}/links/page", headers=organization.headers),
                        visitor.post(call("event", name="e")),
                        client.get("/unknown", headers={"host": organization.domain}),
                    ):
                        answer = await asked
                        answers[answer.status_code] += 1
                        if answer.status_code == 201:
                            made.add(answer.json()["short_url"].rpartition("/")[2])
                        await asyncio.sleep(0.02)

            tasks = [asyncio.create_task(load()) for _ in range(2)]
            for _ in range(times_as_long):
                enough = sum(answers.values()) + 20
                await until(lambda: sum(answers.values()) >= enough, "nothing is answered", seconds=60)  # noqa: B023 - called here
                await asyncio.to_thread(members.restart, members_port(members))
                await asyncio.to_thread(members.wait_for_primary)
            stop.set()
            await asyncio.gather(*tasks)
        stored = sum(link["path"] in made for link in service.stored("links", org_id=organization.id))
    outcome(Outcome(f"MongoDB restarted {times_as_long} times (links)", answers[201], stored))
    faults = [line for line in service.log_lines if line["level"] == "error"]
    assert set(answers) <= {200, 201, 404, 503}, (answers, faults)
    assert 0 < answers[201] == stored
