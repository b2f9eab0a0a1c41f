"""Two hosts on a replica set of three, under load, while members and hosts are killed in turn: one of each,
or with --long for ten minutes."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from tests.api.link_calls import API
from tests.facts.sdk_batches import BATCH, Call, call, timestamp
from tests.faults.metrics import metric
from tests.faults.outcomes import Outcome, TellOutcome
from tests.polling import wait_for
from tests.processes.replica_set import ReplicaSet, replica_set
from tests.processes.service_process import ServiceProcess, free_port, is_free, service_process

DOMAIN = "go.siege.localhost"
ORIGIN = "https://siege.example"
LONG_SECONDS = 600.0
VISITORS_OF_A_HOST = 2
PAUSE = 0.1  # seconds between two requests of one visitor
PATIENCE = 90.0


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
    """Two hosts, an organization with a link, and what visitors and browsers were told."""

    members: ReplicaSet
    hosts: list[Host]
    org_id: str
    rest_key: str
    web_key: str
    short_url: str = ""
    redirects: int = 0
    cut_off: int = 0
    acknowledged: list[str] = field(default_factory=list)
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

    async def send_sales(self, host: Host) -> None:
        """Send sales one by one, each again, at whichever host answers, until it is acknowledged."""
        others = [host, *(each for each in self.hosts if each is not host)]
        async with httpx.AsyncClient(headers={"origin": ORIGIN}, timeout=30) as client:
            while not self.is_over:
                sale = call("conversion", revenue=1, currency="EUR")
                while not await self._send(client, others[0], sale):
                    others.reverse()
                    await asyncio.sleep(PAUSE)
                self.acknowledged.append(sale["call_id"])
                await asyncio.sleep(PAUSE)

    async def _send(self, client: httpx.AsyncClient, host: Host, sale: Call) -> bool:
        batch = {
            "api_key": self.web_key, "device_id": "0b0f6e9c-98b8-4d0a-9d3e-0a4c34c3a222",
            "sdk": "js/test", "sent_at": timestamp(), "calls": [sale],
        }  # fmt: skip
        with contextlib.suppress(httpx.TransportError):
            answer = await client.post(host.service.base_url + BATCH, json=batch)
            if answer.status_code == httpx.codes.OK:
                return bool(answer.json()["results"][0]["status"] in {"accepted", "duplicate"})
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

    def stored_sales(self) -> list[str]:
        """The ids of the stored sales' calls."""
        found = self.hosts[0].service.stored("conversions", org_id=self.org_id)
        return [str(each["_id"]).rpartition("/")[2] for each in found]


@contextlib.contextmanager
def siege(folder: Path) -> Iterator[Siege]:
    """The machines, and a link."""
    with replica_set(folder) as members, ExitStack() as running:
        hosts = []
        for name in ("one", "two"):
            settings = {"WAYLINK_MONGODB_URI": members.uri, "WAYLINK_PORT": str(free_port())}
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


def kill_in_turn(siege: Siege, until: float) -> None:
    """Kill the primary and start it again, then a host, and so on: each once, and on `until` then."""
    for number in range(10_000):
        if number % 2 == 0:
            siege.members.start_again(siege.members.kill_primary())
            siege.members.wait_for_primary()
        else:
            siege.hosts[number // 2 % 2].lose_power()
        answered = siege.redirects, len(siege.acknowledged)
        wait_for(
            lambda: (siege.redirects - answered[0]) * (len(siege.acknowledged) - answered[1]) > 100,  # noqa: B023
            "nobody is answered any more",
            seconds=PATIENCE,
        )
        if number >= 1 and time.monotonic() > until:
            return


async def test_nothing_is_lost_while_members_and_hosts_are_killed_in_turn(
    tmp_path: Path, times_as_long: int, outcome: TellOutcome
) -> None:
    """Each redirect and each acknowledged sale is counted once; requests that were cut off may be."""
    with siege(tmp_path) as machines:
        until = time.monotonic() + (LONG_SECONDS if times_as_long > 1 else 0)
        async with asyncio.TaskGroup() as load:
            for host in machines.hosts:
                load.create_task(machines.send_sales(host))
                for _ in range(VISITORS_OF_A_HOST):
                    load.create_task(machines.visit(host))
            try:
                await asyncio.to_thread(kill_in_turn, machines, until)
            finally:
                machines.is_over = True
        counted = await asyncio.to_thread(machines.wait_for_clicks)
        outcome(
            Outcome("members and hosts killed in turn", machines.redirects, counted, None, machines.cut_off)
        )
        stored = await asyncio.to_thread(machines.stored_sales)
        outcome(Outcome("the same, sales", len(machines.acknowledged), len(stored)))
        assert machines.refused == []
        assert machines.redirects <= counted <= machines.redirects + machines.cut_off
        assert sorted(stored) == sorted(machines.acknowledged)
