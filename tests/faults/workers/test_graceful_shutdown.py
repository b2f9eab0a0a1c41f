"""A service that is told to stop under load: what it accepted is answered, what it acknowledged is kept."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from backend.settings import Settings
from backend.storage.database import open_database
from backend.storage.driver.mongo import Database
from tests.api.link_calls import API, link_body
from tests.facts.clicks import recorded_clicks
from tests.facts.organizations import TestOrganization, create_test_organization
from tests.faults.load import Load, answers, new_path
from tests.polling import wait_for_async
from tests.processes.service_process import ServiceProcess, own_database, service_process


@pytest.fixture(scope="module")
async def stored(mongodb_uri: str) -> AsyncIterator[Database]:
    """A database that outlives the services of these tests."""
    with own_database(mongodb_uri) as own:
        name = own["WAYLINK_MONGODB_DATABASE"]
        async with open_database(Settings(mongodb_uri=mongodb_uri, mongodb_database=name)) as database:
            yield database


async def under_load(service: ServiceProcess, stored: Database) -> tuple[Load, list[asyncio.Task[None]]]:
    """Visitors and browsers at work on a link of their own, once fifty of them were answered."""
    organization = await create_test_organization(stored)
    load = Load(service.base_url, organization, new_path())
    await make_link(load)
    kinds = [load.visit] * 2 + [load.visit_anew] * 2 + [load.send_batches] * 2
    tasks = [asyncio.create_task(kind()) for kind in kinds]
    await answers(load, 50)
    return load, tasks


async def make_link(load: Load) -> None:
    """The link that the visitors follow."""
    body = link_body(load.organization, selected_path=load.path)
    async with httpx.AsyncClient(
        base_url=load.base_url, headers=load.organization.headers, timeout=60
    ) as client:
        made = await client.post(f"{API}/create-link", json=body)
        assert made.status_code == 201, made.text


async def assert_kept(stored: Database, organization: TestOrganization, load: Load) -> None:
    """Every answered visit is a click, every acknowledged call is stored: no more and no less."""
    assert len(await recorded_clicks(stored, organization.id)) == load.redirects
    events = stored["events"].find({"org_id": organization.id}, {"_id": 1})
    assert {str(event["_id"]).rpartition("/")[2] async for event in events} == set(load.acknowledged)


def processes_of(service: ServiceProcess) -> list[int]:
    """The service's process, and those that it started."""
    parent = service.process.pid
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return [parent, *map(int, children)]


@pytest.mark.parametrize(("told", "workers"), [("the service", 1), ("each of its processes", 2)])
async def test_what_was_accepted_is_answered(
    mongodb_uri: str, stored: Database, tmp_path: Path, workers: int, told: str
) -> None:
    """SIGTERM under load: no request goes unanswered, no click or call is lost, the exit code is 0."""
    settings = {
        "WAYLINK_MONGODB_URI": mongodb_uri,
        "WAYLINK_MONGODB_DATABASE": stored.name,
        "WAYLINK_WORKERS": str(workers),
        "WAYLINK_DRAIN_SECONDS": "0.5",
    }
    with service_process(tmp_path, **settings) as service:
        load, tasks = await under_load(service, stored)
        pids = processes_of(service) if told == "each of its processes" else [service.process.pid]
        for pid in pids:
            os.kill(pid, signal.SIGTERM)
        code = await asyncio.to_thread(service.process.wait, 60)
        await asyncio.gather(*tasks)
    print(f"{workers} workers: {load.redirects} redirects, {len(load.acknowledged)} calls, exit code {code}")
    assert load.others == []
    assert code == 0
    await assert_kept(stored, load.organization, load)


async def test_a_stopping_service_says_so(mongodb_uri: str, stored: Database, tmp_path: Path) -> None:
    """After SIGTERM /readyz is 503, for load balancers, and an open connection gets its last answer."""
    settings = {"WAYLINK_MONGODB_URI": mongodb_uri, "WAYLINK_MONGODB_DATABASE": stored.name}
    with service_process(tmp_path, **settings, WAYLINK_DRAIN_SECONDS="3600") as service:
        async with httpx.AsyncClient(base_url=service.base_url, timeout=60) as client:
            assert (await client.get("/readyz")).status_code == 200
            service.process.terminate()
            answer = await wait_for_async(
                lambda: client.get("/readyz"), "it stays ready", lambda answer: answer.status_code != 200
            )
        assert (answer.status_code, answer.json()) == (503, {"status": "stopping"})
        assert answer.headers["Connection"] == "close"
        service.kill()
