"""Metrics of redirects, from processes as their owner runs them."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest

from tests.faults.links import DOMAIN, new_link
from tests.faults.mongod import stopped_mongod
from tests.polling import wait_for
from tests.service_process import ServiceProcess, service_process

SECONDS = 60.0
VISITS = 40
WAITING = "waylink_clicks_waiting_bytes"


def metric(service: ServiceProcess, name: str) -> float:
    """What one scrape shows, on a connection of its own: any worker may answer it."""
    text = httpx.get(f"{service.base_url}/metrics", timeout=30).text
    found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
    return float(found[1]) if found else 0.0


def visit(service: ServiceProcess, path: str) -> int:
    """The status of one visit of the short URL, on a connection of its own."""
    return httpx.get(f"{service.base_url}{path}", headers={"Host": DOMAIN}, timeout=30).status_code


@pytest.mark.parametrize("workers", ["1", "2"])
def test_one_scrape_shows_all_workers(tmp_path: Path, workers: str) -> None:
    """Every redirect is counted once and timed, whichever worker answered it and whichever is asked."""
    with service_process(tmp_path, WAYLINK_WORKERS=workers) as service:
        link = new_link(service)
        assert {visit(service, link["path"]) for _ in range(VISITS)} == {302}
        visit(service, "/no-such-link")
        wait_for(
            lambda: metric(service, "waylink_redirect_seconds_count") >= VISITS + 1,
            "a worker does not tell what it answered",
            seconds=SECONDS,
        )
        for _ in range(8):
            assert metric(service, 'waylink_redirects_total{status="302"}') == VISITS
            assert metric(service, 'waylink_redirects_total{status="404"}') == 1
            assert metric(service, "waylink_redirect_seconds_count") == VISITS + 1


@pytest.mark.parametrize("workers", ["1", "2"])
def test_waiting_clicks_are_seen_until_they_are_shipped(tmp_path: Path, workers: str) -> None:
    """While the database is stopped, clicks wait in the metrics; once it is back, none does."""
    settings = {"WAYLINK_WORKERS": workers, "WAYLINK_LINK_CACHE_SECONDS": "600"}
    with service_process(tmp_path, **settings) as service:
        link = new_link(service)
        for _ in range(VISITS):
            visit(service, link["path"])
        wait_for(
            lambda: metric(service, WAITING) == 0,
            "clicks wait although the database answers",
            seconds=SECONDS,
        )
        with stopped_mongod(tmp_path):
            wait_for(
                lambda: visit(service, link["path"]) == 302,
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
