"""Two hosts, each with two workers and a data folder of its own, on one MongoDB.

A link stays in memory for longer than the tests take: of what changes, only the change stream tells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from backend.domain.ids import OrgId
from tests.api.link_calls import API
from tests.facts.sdk_batches import BATCH, call, timestamp
from tests.polling import wait_for
from tests.processes.service_process import ServiceProcess, own_database, service_process

DOMAIN = "go.hosts.localhost"
ORIGIN = "https://hosts.example"
SECONDS = 30.0
FAR_AWAY = "86399"  # a time to live that ends long after the tests


@dataclass(frozen=True, slots=True)
class Hosts:
    """The two services, and the keys of an organization."""

    services: tuple[ServiceProcess, ServiceProcess]
    org_id: OrgId
    rest_key: str
    web_key: str

    def rest(self, host: int, method: str, path: str, **body: Any) -> httpx.Response:
        """A call of the REST API to one of the hosts."""
        headers = {"API-KEY": self.rest_key}
        return httpx.request(
            method, self.services[host].base_url + API + path, json=body, headers=headers, timeout=30
        )

    def new_link(self, host: int) -> str:
        """Make a link at one of the hosts; its short URL."""
        made = self.rest(
            host,
            "POST",
            "/create-link",
            domain=DOMAIN,
            destination_url="https://a.example",
            link_name="n",
        )
        assert made.status_code == 201, made.text
        return str(made.json()["short_url"])

    def follow(self, host: int, short_url: str) -> httpx.Response:
        """Follow the short URL at one of the hosts."""
        address = self.services[host].base_url + urlsplit(short_url).path
        return httpx.get(address, headers={"host": DOMAIN}, timeout=30)

    def clicks(self, host: int, short_url: str) -> int:
        """What one of the hosts says of the link's clicks."""
        return int(self.rest(host, "POST", "/analytics", shortUrl=short_url).json().get("total_clicks", -1))


@pytest.fixture(scope="module")
def hosts(mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    """Two services that know nothing of each other but the database."""
    folder = tmp_path_factory.mktemp("hosts")
    with ExitStack() as running:
        settings = running.enter_context(own_database(mongodb_uri))
        settings |= {"WAYLINK_WORKERS": "2", "WAYLINK_LINK_CACHE_SECONDS": FAR_AWAY}
        one, two = (
            running.enter_context(service_process(folder / name, **settings)) for name in ("one", "two")
        )
        org_id = one.command("organization", "create", "Hosts")["id"]
        one.command("domain", "add", DOMAIN, "--org", org_id)
        one.command("origin", "add", ORIGIN, "--org", org_id)
        keys = [
            two.command("key", "create", "--org", org_id, "--kind", kind)["key"] for kind in ("rest", "web")
        ]
        yield Hosts((one, two), org_id, keys[0], keys[1])


def eventually(seen: Callable[[], Any], wanted: Any) -> None:
    """Return once `wanted` is seen ten times in a row, whichever worker answers; fail after SECONDS."""
    wait_for(lambda: all(seen() == wanted for _ in range(10)), f"it is not {wanted}", seconds=SECONDS)


def test_a_link_made_at_one_host_redirects_at_both(hosts: Hosts) -> None:
    """A link exists everywhere as soon as its creation was answered."""
    for host in (0, 1):
        short_url = hosts.new_link(host)
        assert [hosts.follow(at, short_url).status_code for at in (0, 1)] == [302, 302]


def test_a_change_at_one_host_is_followed_by_both(hosts: Hosts) -> None:
    """A new destination, and a link that is disabled and enabled again, reach every worker of every host."""
    short_url = hosts.new_link(0)
    link_id = hosts.rest(1, "POST", "/links/info", shortUrl=short_url).json()["id"]
    for host in (0, 1):
        assert hosts.follow(host, short_url).status_code == 302
    hosts.rest(0, "PATCH", f"/update-link/{link_id}", destination_url="https://b.example/new")
    for host in (0, 1):
        eventually(
            lambda: urlsplit(hosts.follow(host, short_url).headers["Location"]).hostname,  # noqa: B023 - called here
            "b.example",
        )
    for is_enabled, status in ((False, 404), (True, 302)):
        hosts.rest(1, "PATCH", f"/links/change-status/{link_id}", is_enabled=is_enabled)
        for host in (0, 1):
            eventually(lambda: hosts.follow(host, short_url).status_code, status)  # noqa: B023 - called here


def test_a_key_revoked_at_one_host_is_refused_by_both(hosts: Hosts) -> None:
    """Within seconds no worker of any host accepts it."""
    created = hosts.services[0].command("key", "create", "--org", hosts.org_id, "--kind", "rest")
    revoked = Hosts(hosts.services, hosts.org_id, created["key"], hosts.web_key)
    for host in (0, 1):
        eventually(lambda: revoked.rest(host, "GET", "/links/page").status_code, 200)  # noqa: B023 - called here
    hosts.services[1].command("key", "revoke", created["id"], "--yes")
    for host in (0, 1):
        eventually(lambda: revoked.rest(host, "GET", "/links/page").status_code, 401)  # noqa: B023 - called here


def test_a_call_sent_to_both_hosts_counts_once(hosts: Hosts) -> None:
    """A browser that repeats a batch at another host, after a lost answer, is not counted twice."""
    batch = {
        "api_key": hosts.web_key,
        "device_id": "0b0f6e9c-98b8-4d0a-9d3e-0a4c34c3a111",
        "sdk": "js/test",
        "sent_at": timestamp(),
        "calls": [call("conversion", revenue=5, currency="EUR", transaction_id="t-1")],
    }
    answers = [
        httpx.post(service.base_url + BATCH, json=batch, headers={"Origin": ORIGIN}, timeout=30).json()
        for service in hosts.services
    ]
    assert [answer["results"][0]["status"] for answer in answers] == ["accepted", "duplicate"]
