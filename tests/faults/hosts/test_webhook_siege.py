"""A receiver of webhooks behind two hosts on a replica set, under load, while members, hosts and the receiver
are killed in turn: one of each, or with --long for ten minutes."""

from __future__ import annotations

import asyncio
import contextlib
import time
from pathlib import Path

import httpx

from backend.domain.feed.cursor import START, Cursor
from backend.domain.ids import OrgId
from backend.domain.web.short_urls import ShortUrlForm
from backend.settings import Settings
from backend.storage.database import Indexes, open_database
from backend.storage.driver.mongo import Database
from backend.storage.feed.reading import read_feed
from backend.storage.webhooks.endpoints import create_endpoint, get_endpoint
from backend.system.clock import utc_now
from tests.faults.hosts.test_siege import LONG_SECONDS, PATIENCE, VISITORS_OF_A_HOST, Siege, siege
from tests.faults.killed_receiver import KilledReceiver
from tests.faults.outcomes import Outcome, TellOutcome
from tests.polling import wait_for, wait_for_async
from tests.processes.service_process import free_port

_DOWN = 2.0  # seconds that the receiver stays away
_LINKS_PAUSE = 0.5


async def test_every_event_arrives_in_order(tmp_path: Path, times_as_long: int, outcome: TellOutcome) -> None:
    """Redirects, sales and new links come to the receiver in the feed's order, none missing."""
    receiver = KilledReceiver(free_port(), tmp_path / "received")
    with siege(tmp_path) as machines:
        settings = Settings(mongodb_uri=machines.members.uri)
        async with open_database(settings, Indexes.LEAVE) as database:
            org_id = OrgId(machines.org_id)
            endpoint = await create_endpoint(
                database, org_id, {"url": receiver.url, "batch_size": 100}, utc_now()
            )
            until = time.monotonic() + (LONG_SECONDS if times_as_long > 1 else 0)
            async with asyncio.TaskGroup() as load:
                load.create_task(make_links(machines))
                for host in machines.hosts:
                    load.create_task(machines.send_sales(host))
                    for _ in range(VISITORS_OF_A_HOST):
                        load.create_task(machines.visit(host))
                try:
                    killed = await asyncio.to_thread(kill_in_turn, machines, receiver, until)
                finally:
                    machines.is_over = True
            await asyncio.to_thread(machines.wait_for_clicks)
            told = await all_ids(database, org_id, endpoint.cursor)

            async def arrived() -> int:
                return len(set(receiver.event_ids))

            await wait_for_async(
                arrived, f"of {len(told)} events", lambda seen: seen >= len(told), seconds=PATIENCE
            )
            known = await get_endpoint(database, org_id, endpoint.id)
        came = receiver.event_ids
        receiver.kill()
        repeats = len(came) - len(set(came))
        scenario = f"webhook, {killed} killed in turn, {repeats} repeats, {known.repeats} counted"
        outcome(Outcome(scenario, len(told), len(set(came))))
        assert list(dict.fromkeys(came)) == told
        assert repeats <= known.repeats


async def make_links(machines: Siege) -> None:
    """Make links, one after the other, at the first host."""
    number = 0
    while not machines.is_over:
        number += 1
        with contextlib.suppress(httpx.TransportError):
            await asyncio.to_thread(
                machines.rest, "POST", "/create-link", domain="go.siege.localhost",
                destination_url="https://siege.example/", link_name=f"Siege {number}",
            )  # fmt: skip
        await asyncio.sleep(_LINKS_PAUSE)


def kill_in_turn(machines: Siege, receiver: KilledReceiver, until: float) -> int:
    """Kill the primary, a host and the receiver in turn, each once, and on `until` then. Returns how many."""
    for number in range(10_000):
        match number % 3:
            case 0:
                machines.members.start_again(machines.members.kill_primary())
                machines.members.wait_for_primary()
            case 1:
                machines.hosts[number // 3 % 2].lose_power()
            case _:
                receiver.kill()
                time.sleep(_DOWN)
                receiver.start_again()
        came, answered = len(receiver.event_ids), machines.redirects
        wait_for(
            lambda: min(len(receiver.event_ids) - came, machines.redirects - answered) > 50,  # noqa: B023
            "nothing arrives any more",
            seconds=PATIENCE,
        )
        if number >= 2 and time.monotonic() > until:
            return number + 1
    return 0


async def all_ids(database: Database, org_id: OrgId, cursor: Cursor) -> list[str]:
    """The ids of all events behind the cursor."""
    ids: list[str] = []
    has_more = True
    while has_more:
        page = await read_feed(database, org_id, max(cursor, START), url_form=ShortUrlForm())
        ids += [each.id for each in page.events]
        cursor, has_more = page.next_cursor, page.has_more
    return ids
