"""Two hosts on a replica set of three, and a receiver of webhooks, under load, while members, hosts and the
receiver are killed in turn: one of each, or with --long for ten minutes."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from backend.domain.feed.cursor import START, Cursor
from backend.domain.ids import OrgId
from backend.domain.web.short_urls import ShortUrlForm
from backend.environment import load_settings
from backend.storage.database import Indexes, open_database
from backend.storage.driver.mongo import Database
from backend.storage.feed.reading import read_feed
from backend.storage.webhooks.endpoints import create_endpoint, get_endpoint
from backend.system.clock import utc_now
from tests.api.link_calls import API
from tests.facts.sdk_batches import BATCH, Call, call, check, conversion, timestamp
from tests.faults.killed_receiver import KilledReceiver
from tests.faults.metrics import metric
from tests.faults.outcomes import Outcome, TellOutcome
from tests.polling import wait_for, wait_for_async
from tests.processes.replica_set import ReplicaSet
from tests.processes.service_process import ServiceProcess, free_port, is_free, service_process

DOMAIN = "go.siege.localhost"
ORIGIN = "https://siege.example"
LONG_SECONDS = 600.0
# So many, at such pauses, that a request is under way whenever something is killed.
BUYERS_OF_A_HOST = 2
PAUSE = 0.2  # seconds between two requests of one visitor
LINKS_PAUSE = 1.0
PATIENCE = 90.0


@dataclass(frozen=True, slots=True)
class Batch:
    """What a visitor sends who comes by an advertisement, looks and buys; the first and the last time."""

    device_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    calls: list[Call] = field(default_factory=lambda: [
        check(gclid=uuid.uuid4().hex),
        call("event", name="looked"),
        conversion(transaction_id=str(uuid.uuid4())),
    ])  # fmt: skip

    def id_of(self, kind: str) -> str:
        """The id of its call of this kind."""
        (found,) = (str(call["call_id"]) for call in self.calls if call["kind"] == kind)
        return found


@dataclass
class Host:
    """A service with a folder of its own, which can lose its power and be started again."""

    folder: Path
    settings: dict[str, str]
    service: ServiceProcess
    running: ExitStack

    def lose_power(self) -> None:
        """Kill it and all its workers, and start it again on what its disk has."""
        self.service.kill()
        self.running.close()
        port = int(self.service.environment["WAYLINK_PORT"])
        wait_for(lambda: is_free(port), f"port {port} is still held", seconds=30)
        self.service = self.running.enter_context(service_process(self.folder, **self.settings))


@dataclass
class Siege:
    """Two hosts, an organization with a link, and what visitors and buyers were told."""

    members: ReplicaSet
    hosts: list[Host]
    org_id: str
    rest_key: str
    web_key: str
    short_url: str = ""
    redirects: int = 0
    cut_off: int = 0
    acknowledged: list[Batch] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    is_over: bool = False

    async def visit(self, host: Host) -> None:
        """Follow the link again and again. A host that is away, or has lost its storage, may say so."""
        path = urlsplit(self.short_url).path
        async with httpx.AsyncClient(headers={"host": DOMAIN}, timeout=30) as client:
            while not self.is_over:
                try:
                    answer = await client.get(host.service.base_url + path)
                except httpx.ConnectError:
                    pass  # it was never asked
                except httpx.TransportError:
                    self.cut_off += 1
                else:
                    self._note(answer)
                await asyncio.sleep(PAUSE)

    def _note(self, answer: httpx.Response) -> None:
        if answer.status_code == httpx.codes.FOUND:
            self.redirects += 1
        elif answer.status_code != httpx.codes.SERVICE_UNAVAILABLE:
            self.refused.append(f"visit: {answer.status_code}")

    async def make_links(self) -> None:
        """Make links, one after the other, at the first host."""
        number = 0
        while not self.is_over:
            number += 1
            with contextlib.suppress(httpx.TransportError):
                await asyncio.to_thread(
                    self.rest, "POST", "/create-link", domain=DOMAIN,
                    destination_url="https://siege.example/", link_name=f"Siege {number}",
                )  # fmt: skip
            await asyncio.sleep(LINKS_PAUSE)

    async def buy(self, host: Host) -> None:
        """Send batches one by one, each again, at whichever host answers, until it is acknowledged."""
        others = [host, *(other for other in self.hosts if other is not host)]
        async with httpx.AsyncClient(headers={"origin": ORIGIN}, timeout=30) as client:
            while not self.is_over:
                batch = Batch()
                while not await self._send(client, others[0], batch):
                    others.reverse()
                    await asyncio.sleep(PAUSE)
                self.acknowledged.append(batch)
                await asyncio.sleep(PAUSE)

    async def _send(self, client: httpx.AsyncClient, host: Host, batch: Batch) -> bool:
        body = {
            "api_key": self.web_key, "device_id": batch.device_id, "sdk": "js/test",
            "sent_at": timestamp(), "calls": batch.calls,
        }  # fmt: skip
        with contextlib.suppress(httpx.TransportError):
            answer = await client.post(host.service.base_url + BATCH, json=body)
            if answer.status_code == httpx.codes.OK:
                return {result["status"] for result in answer.json()["results"]} <= {"accepted", "duplicate"}
        return False

    def wait_for_clicks(self) -> int:
        """The link's clicks, once all redirects are counted and nothing waits to be, on any host."""
        wait_for(self._clicks, "clicks are lost", lambda seen: seen >= self.redirects, seconds=PATIENCE)
        for host in self.hosts:
            left = partial(metric, host.service, "waylink_clicks_waiting_bytes")
            wait_for(left, "clicks wait", lambda seen: seen == 0, seconds=PATIENCE)
        return self._clicks()

    def _clicks(self) -> int:
        """What the first host says; -1 while it can't."""
        answer = self.rest("POST", "/analytics", shortUrl=self.short_url)
        return int(answer.json().get("total_clicks", -1))

    def rest(self, method: str, path: str, **body: Any) -> httpx.Response:
        """A call of the REST API to the first host."""
        address, headers = self.hosts[0].service.base_url + API + path, {"API-KEY": self.rest_key}
        return httpx.request(method, address, json=body, headers=headers, timeout=30)

    def check_batches(self) -> tuple[int, int]:
        """Fail unless each acknowledged batch is stored once. How many were, and how many sales are."""
        stored = self.hosts[0].service.stored
        ids = {
            kind: sorted(str(document["_id"]).rpartition("/")[2] for document in stored(name))
            for name, kind in (("conversions", "conversion"), ("events", "event"))
        }
        for kind, found in ids.items():
            assert found == sorted(batch.id_of(kind) for batch in self.acknowledged)
        assert len(stored("counted_once")) == len(self.acknowledged)
        devices = stored("devices")
        assert len(devices) == len(self.acknowledged)
        assert {(len(device["touches"]), len(device["click_ids"])) for device in devices} == {(1, 1)}
        return len(self.acknowledged), len(ids["conversion"])


@contextlib.contextmanager
def siege(members: ReplicaSet, own: dict[str, str], folder: Path) -> Iterator[Siege]:
    """The machines, and a link."""
    with ExitStack() as running:
        hosts = []
        for name in ("one", "two"):
            settings = own | {"WAYLINK_PORT": str(free_port())}
            its_own = running.enter_context(ExitStack())
            service = its_own.enter_context(service_process(folder / name, **settings))
            hosts.append(Host(folder / name, settings, service, its_own))
        command: Callable[..., dict[str, Any]] = hosts[0].service.command
        org_id = command("organization", "create", "Siege")["id"]
        command("domain", "add", DOMAIN, "--org", org_id)
        command("origin", "add", ORIGIN, "--org", org_id)
        keys = [command("key", "create", "--org", org_id, "--kind", kind)["key"] for kind in ("rest", "web")]
        found = Siege(members, hosts, org_id, *keys)
        link = {"domain": DOMAIN, "destination_url": "https://siege.example/", "link_name": "Siege"}
        found.short_url = found.rest("POST", "/create-link", **link).json()["short_url"]
        yield found


def kill_in_turn(machines: Siege, receiver: KilledReceiver, until: float) -> int:
    """Kill the primary and the receiver, which stays away as long, and then a host; and again, until then.

    Returns how many were killed.
    """
    for number in itertools.count():
        receiver.kill()
        machines.members.start_again(machines.members.kill_primary())
        machines.members.wait_for_primary()
        receiver.start_again()
        wait_until_all_goes_on(machines, receiver)
        machines.hosts[number % 2].lose_power()
        wait_until_all_goes_on(machines, receiver)
        if time.monotonic() > until:
            break
    return 3 * (number + 1)


def wait_until_all_goes_on(machines: Siege, receiver: KilledReceiver) -> None:
    """Return once more visits are redirected, more batches acknowledged, and more events received."""
    before = done(machines, receiver)
    wait_for(
        lambda: min(now - then for now, then in zip(done(machines, receiver), before, strict=True)),
        "nobody is answered any more",
        lambda least: least > 5,
        seconds=PATIENCE,
    )


def done(machines: Siege, receiver: KilledReceiver) -> tuple[int, int, int]:
    """How many visits were redirected, batches acknowledged, and events received."""
    return machines.redirects, len(machines.acknowledged), len(receiver.event_ids)


async def all_ids(database: Database, org_id: OrgId, cursor: Cursor) -> list[str]:
    """The ids of all events behind the cursor."""
    ids: list[str] = []
    has_more = True
    while has_more:
        page = await read_feed(database, org_id, max(cursor, START), url_form=ShortUrlForm())
        ids += [event.id for event in page.events]
        cursor, has_more = page.next_cursor, page.has_more
    return ids


async def test_nothing_is_lost_while_members_hosts_and_the_receiver_are_killed_in_turn(
    members: ReplicaSet,
    own: dict[str, str],
    tmp_path: Path,
    times_as_long: int,
    outcome: TellOutcome,
) -> None:
    """Each redirect, and each call of an acknowledged batch, is counted once, though requests that were cut
    off may be; and redirects, sales and new links come to the receiver in the feed's
    order, none missing."""
    receiver = KilledReceiver(free_port(), tmp_path / "received")
    with siege(members, own, tmp_path) as machines:
        async with open_database(load_settings(own, Path("none")), Indexes.LEAVE) as database:
            org_id = OrgId(machines.org_id)
            body = {"url": receiver.url, "batch_size": 100}
            endpoint = await create_endpoint(database, org_id, body, utc_now())
            until = time.monotonic() + (LONG_SECONDS if times_as_long > 1 else 0)
            killed = await besiege(machines, receiver, until)
            counted = await asyncio.to_thread(machines.wait_for_clicks)
            acknowledged, stored = await asyncio.to_thread(machines.check_batches)
            told = await all_ids(database, org_id, endpoint.cursor)

            async def arrived() -> int:
                return len(set(receiver.event_ids))

            await wait_for_async(
                arrived, f"of {len(told)} events", lambda seen: seen >= len(told), seconds=PATIENCE
            )
            repeats_told = (await get_endpoint(database, org_id, endpoint.id)).repeats
        came = receiver.event_ids
        receiver.kill()
    repeats = len(came) - len(set(came))
    outcome(Outcome(f"{killed} killed in turn", machines.redirects, counted, None, machines.cut_off))
    outcome(Outcome("the same, sales", acknowledged, stored))
    outcome(Outcome(f"the same, webhook, {repeats} repeats", len(told), len(set(came))))
    assert machines.refused == []
    assert machines.redirects <= counted <= machines.redirects + machines.cut_off
    assert list(dict.fromkeys(came)) == told
    assert repeats <= repeats_told


async def besiege(machines: Siege, receiver: KilledReceiver, until: float) -> int:
    """Keep visitors, buyers and new links coming, and kill in turn; how many were killed."""
    async with asyncio.TaskGroup() as load:
        load.create_task(machines.make_links())
        for host in machines.hosts:
            load.create_task(machines.visit(host))
            for _ in range(BUYERS_OF_A_HOST):
                load.create_task(machines.buy(host))
        try:
            return await asyncio.to_thread(kill_in_turn, machines, receiver, until)
        finally:
            machines.is_over = True
