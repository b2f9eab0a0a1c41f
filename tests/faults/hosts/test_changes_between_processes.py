"""A change made over one process takes effect in another: by the change stream, or by the time to live."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.link_calls import API
from tests.faults.links import DOMAIN, new_link
from tests.polling import wait_for
from tests.processes.replica_set import replica_set
from tests.processes.service_process import ServiceProcess, own_database, service_process

SECONDS = 30.0
FAR_AWAY = "86399"  # a time to live that ends long after the test
SHOP = "https://shop.example/"


@dataclass(frozen=True, slots=True)
class Links:
    """A link that is changed over one process, and visited at others."""

    changed_at: ServiceProcess
    headers: dict[str, str]
    path: str
    id: str

    def change(self, **fields: Any) -> None:
        """Change fields of the link over the REST API."""
        self._patch(f"/update-link/{self.id}", fields)

    def enable(self, is_enabled: bool) -> None:
        """Enable or disable the link over the REST API."""
        self._patch(f"/links/change-status/{self.id}", {"is_enabled": is_enabled})

    def _patch(self, path: str, body: dict[str, Any]) -> None:
        answer = httpx.patch(
            self.changed_at.base_url + API + path, json=body, headers=self.headers, timeout=60
        )
        assert answer.status_code == 200, answer.text

    def visit(self, service: ServiceProcess) -> str:
        """Where a process leads a visitor; the status, where it leads nobody."""
        answer = httpx.get(f"{service.base_url}{self.path}", headers={"host": DOMAIN}, timeout=60)
        return str(answer.headers.get("location", answer.status_code)).partition("?")[0]

    def wait_until(self, service: ServiceProcess, wanted: str) -> None:
        """Visit until it leads there."""
        wait_for(
            lambda: self.visit(service),
            f"it does not lead to {wanted}",
            lambda seen: seen == wanted,
            seconds=SECONDS,
        )


def link_of(service: ServiceProcess) -> Links:
    """A new link, changed over this process."""
    made = new_link(service)
    headers = {"API-KEY": made["key"]}
    answer = httpx.post(
        f"{service.base_url}{API}/links/info",
        json={"shortUrl": made["short_url"]},
        headers=headers,
        timeout=60,
    )
    return Links(service, headers, made["path"], answer.json()["id"])


@pytest.fixture
def running(tmp_path: Path) -> Iterator[ExitStack]:
    """What a test starts, and what ends with it."""
    with ExitStack() as running:
        yield running


def wait_for_the_stream(links: Links, service: ServiceProcess) -> None:
    """Change the link until the process sees a change: from then on its change stream is there."""
    before = links.visit(service)
    numbers = count()

    def change_and_visit() -> str:
        links.change(destination_url=f"{SHOP}{next(numbers)}")
        return links.visit(service)

    wait_for(change_and_visit, "no change was seen", lambda seen: seen != before, seconds=SECONDS)


def test_the_change_stream_tells_another_process(
    running: ExitStack, mongodb_uri: str, tmp_path: Path
) -> None:
    """With a time to live of a day, a new destination and a disabled link reach the second process."""
    settings = running.enter_context(own_database(mongodb_uri)) | {"WAYLINK_LINK_CACHE_SECONDS": FAR_AWAY}
    one, two = [running.enter_context(service_process(tmp_path / name, **settings)) for name in ("1", "2")]
    links = link_of(one)
    wait_for_the_stream(links, two)
    links.change(destination_url=f"{SHOP}new")
    links.wait_until(two, f"{SHOP}new")
    links.enable(False)
    links.wait_until(two, "404")
    links.enable(True)
    links.wait_until(two, f"{SHOP}new")


def test_without_a_change_stream_the_time_to_live_decides(running: ExitStack, tmp_path: Path) -> None:
    """Where the server refuses change streams, a process reads the link again when its time to live is over;
    one whose time to live is a day still leads to the old destination then."""
    members = running.enter_context(replica_set(tmp_path, 1, can_fail=True))
    members.fail_commands("aggregate", "getMore")
    short, long = [
        running.enter_context(
            service_process(
                tmp_path / seconds, WAYLINK_MONGODB_URI=members.uri, WAYLINK_LINK_CACHE_SECONDS=seconds
            )
        )
        for seconds in ("2", FAR_AWAY)
    ]
    links = link_of(short)
    assert [links.visit(service) for service in (short, long)] == ["https://shop.example"] * 2
    links.change(destination_url=f"{SHOP}new")
    links.wait_until(short, f"{SHOP}new")
    links.enable(False)
    links.wait_until(short, "404")
    assert links.visit(long) == "https://shop.example"
