"""Several processes: one of them delivers to an endpoint, and when it dies or is stopped, another goes on."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import pytest

from backend.app import Service
from backend.domain.feed.cursor import Cursor
from backend.storage.driver.mongo import Database, Document
from backend.storage.processes.leases import end_lease, live_leases, take_lease
from backend.storage.schema.work_item import WorkItem
from backend.storage.webhooks.endpoint_leases import (
    count_by_holder,
    free_endpoints,
    release,
    store_progress,
    take_free,
)
from backend.storage.webhooks.endpoints import change_endpoint, create_endpoint, get_endpoint
from backend.system.clock import utc_now
from tests.facts.organizations import create_test_organization
from tests.fresh_database import fresh_database
from tests.polling import until, wait_for_async
from tests.processes.service_process import own_database, service_process
from tests.webhooks.conftest import all_events, happen
from tests.webhooks.receiver import OK, Answer, Receiver, Request

EVENTS = 150


def slowly(_: Request) -> Answer:
    """So that processes are killed in the middle."""
    time.sleep(0.02)
    return OK


@pytest.fixture(scope="module")
async def quiet(service: Service) -> AsyncIterator[Database]:
    """A database in which no service delivers."""
    async with fresh_database(service.resources.database) as fresh:
        yield fresh


async def test_who_was_stopped_sets_nothing_back(quiet: Database) -> None:
    """When a lease has ended, another takes the endpoint; what the one before writes then is refused, and so
    is what anybody writes whose endpoint was changed meanwhile."""
    organization = await create_test_organization(quiet)
    made = await create_endpoint(quiet, organization.id, {"url": "https://crm.example/"}, utc_now())
    assert await take_lease(quiet, "w/one", "one", timedelta(seconds=30))
    [free] = await free_endpoints(quiet, await live_leases(quiet, "w/"), 9)
    held = await take_free(quiet, "w/one", free.read())
    assert held
    assert await take_free(quiet, "w/two", free.read()) is None
    assert await free_endpoints(quiet, await live_leases(quiet, "w/"), 9) == []
    assert await count_by_holder(quiet) == {"w/one": 1}
    assert await store_progress(quiet, held.moved(Cursor(7)))
    await end_lease(quiet, "w/one", "one")
    [free] = await free_endpoints(quiet, await live_leases(quiet, "w/"), 9)
    other = await take_free(quiet, "w/two", free.read())
    assert other
    assert other.endpoint.cursor == Cursor(7)
    assert await store_progress(quiet, other.moved(Cursor(9)))
    assert not await store_progress(quiet, held.moved(Cursor(8)))
    await release(quiet, held)
    assert await count_by_holder(quiet) == {"w/two": 1}
    await change_endpoint(quiet, organization.id, made.id, {"batch_size": 2})
    assert not await store_progress(quiet, other.moved(Cursor(10)))
    assert (await get_endpoint(quiet, organization.id, made.id)).cursor == Cursor(9)


async def test_an_endpoint_that_can_not_be_read_is_tried_again(quiet: Database) -> None:
    """Whoever took it and could not read it does not hold it: once it is mended, it is delivered to."""
    organization = await create_test_organization(quiet)
    made = await create_endpoint(quiet, organization.id, {"url": "https://crm.example/"}, utc_now())
    assert await take_lease(quiet, "w/one", "one", timedelta(seconds=30))

    async def free() -> list[WorkItem[Document]]:
        found = await free_endpoints(quiet, await live_leases(quiet, "w/"), 9)
        return [item for item in found if item.id == made.id]

    former = await quiet["webhooks"].find_one({"_id": made.id})
    assert former
    for field, damage in (("sent_to", "x"), ("types", 5)):
        await quiet["webhooks"].update_one({"_id": made.id}, {"$set": {field: damage}})
        [own] = await free()
        with pytest.raises((ValueError, TypeError)):
            await take_free(quiet, "w/one", own.read())
        await quiet["webhooks"].update_one({"_id": made.id}, {"$set": {field: former[field]}})
    [own] = await free()
    held = await take_free(quiet, "w/one", own.read())
    assert held
    assert held.endpoint.id == made.id
    await release(quiet, held)
    await quiet["webhooks"].delete_one({"_id": made.id})
    await end_lease(quiet, "w/one", "one")


async def test_killed_and_stopped(service: Service, mongodb_uri: str, tmp_path: Path, hook: Receiver) -> None:
    """While events are delivered, the process that does is killed; the one that goes on is stopped, and comes
    back when a third has gone on. Every event arrives, in order; what arrived twice is counted."""
    hook.answer = slowly
    with ExitStack() as running, own_database(mongodb_uri) as environment:
        database = service.resources.database.client.get_database(
            environment["WAYLINK_MONGODB_DATABASE"], codec_options=service.resources.database.codec_options
        )
        organization = await create_test_organization(database)
        start = lambda name: running.enter_context(service_process(tmp_path / name, **environment))  # noqa: E731
        first = await asyncio.to_thread(start, "first")
        endpoint = await create_endpoint(database, organization.id, {"url": hook.url()}, utc_now())
        await happen(database, organization.id, EVENTS)
        await until(lambda: len(hook.event_ids) > 10, "events of the first process")
        second = await asyncio.to_thread(start, "second")
        first.kill()
        seen = len(hook.event_ids)
        await until(lambda: len(hook.event_ids) > seen + 10, "events of the second process")
        os.kill(second.process.pid, signal.SIGSTOP)
        await asyncio.to_thread(start, "third")
        seen = len(hook.event_ids)
        await until(lambda: len(hook.event_ids) > seen + 10, "events of the third process")
        os.kill(second.process.pid, signal.SIGCONT)
        events = await all_events(database, organization.id, EVENTS)

        async def delivered() -> int:
            return (await get_endpoint(database, organization.id, endpoint.id)).delivered

        await wait_for_async(delivered, "events that arrived", lambda count: count >= EVENTS)
    ids = hook.event_ids
    endpoint = await get_endpoint(database, organization.id, endpoint.id)
    assert list(dict.fromkeys(ids)) == [event.id for event in events]
    assert endpoint.cursor >= events[-1].cursor
    assert len(ids) - EVENTS <= endpoint.repeats <= 2
