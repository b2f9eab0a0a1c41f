"""Metrics of redirects, from processes as their owner runs them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import httpx
import pytest

from tests.faults.links import DOMAIN, new_link
from tests.polling import wait_for
from tests.processes.replica_set import ReplicaSet
from tests.processes.service_process import SERVE, ServiceProcess, service_process

SECONDS = 60.0
VISITS = 20
WAITING = "waylink_clicks_waiting_bytes"


def metrics(service: ServiceProcess, *names: str) -> list[float]:
    """What one scrape shows of each, on a connection of its own: any worker may answer it."""
    text = httpx.get(f"{service.base_url}/metrics", timeout=30).text
    found = [re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE) for name in names]
    return [float(value[1]) if value else 0.0 for value in found]


def metric(service: ServiceProcess, name: str) -> float:
    """What one scrape shows."""
    return metrics(service, name)[0]


def visit(service: ServiceProcess, path: str) -> int:
    """The status of one visit of the short URL, on a connection of its own."""
    return httpx.get(f"{service.base_url}{path}", headers={"Host": DOMAIN}, timeout=30).status_code


@dataclass(frozen=True, slots=True)
class Measured:
    """A service with two workers, a link of it, and its MongoDB."""

    service: ServiceProcess
    path: str
    members: ReplicaSet


@pytest.fixture(scope="module")
def measured(
    members: ReplicaSet, own: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Measured]:
    """A service that both tests use: its workers keep the link in memory.

    It is started, not forked: metrics are shared only if all that counts is imported in the right order.
    """
    settings = own | {"WAYLINK_WORKERS": "2", "WAYLINK_LINK_CACHE_SECONDS": "600"}
    with service_process(tmp_path_factory.mktemp("data"), SERVE, **settings) as service:
        yield Measured(service, new_link(service)["path"], members)


def test_one_scrape_shows_all_workers(measured: Measured) -> None:
    """Every redirect is counted once and timed, whichever worker answered it and whichever is asked."""
    service = measured.service
    names = [f'waylink_redirects_total{{status="{status}"}}' for status in (302, 404)]
    names.append("waylink_redirect_seconds_count")
    before = metrics(service, *names)
    assert {visit(service, measured.path) for _ in range(VISITS)} == {302}
    visit(service, "/no-such-link")
    wait_for(
        lambda: metric(service, names[2]) >= before[2] + VISITS + 1,
        "a worker does not tell what it answered",
        seconds=SECONDS,
    )
    for _ in range(8):
        more = [now - earlier for now, earlier in zip(metrics(service, *names), before, strict=True)]
        assert more == [VISITS, 1, VISITS + 1]


def test_waiting_clicks_are_seen_until_they_are_shipped(measured: Measured) -> None:
    """While the database is stopped, clicks wait in the metrics; once it is back, none does."""
    service = measured.service
    for _ in range(VISITS):
        visit(service, measured.path)
    wait_for(
        lambda: metric(service, WAITING) == 0,
        "clicks wait although the database answers",
        seconds=SECONDS,
    )
    with measured.members.frozen():
        wait_for(
            lambda: visit(service, measured.path) == 302,
            "no worker has the link in memory",
            seconds=SECONDS,
        )
        for _ in range(8):
            wait_for(
                lambda: metric(service, WAITING) > 0,
                "the click that waits is not in the metrics",
                seconds=SECONDS,
            )
    wait_for(lambda: metric(service, WAITING) == 0, "the clicks were not shipped", seconds=SECONDS)
