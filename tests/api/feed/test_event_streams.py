"""GET /events as server-sent events, and requests that wait, with a network in between."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from tests.api.link_calls import API
from tests.conftest import ServiceStarter
from tests.dashboard.office import make_key, make_organization
from tests.polling import wait_for
from tests.processes.service_process import ServiceProcess

EVENTS = f"{API}/events"


@dataclass(frozen=True, slots=True)
class Shop:
    """An organization of a running service, with a link that is clicked."""

    service: ServiceProcess
    org_id: str
    key: str
    domain: str
    client: httpx.Client = field(repr=False)

    def click(self, times: int = 1) -> None:
        """Click the link."""
        for _ in range(times):
            visit = {"Host": self.domain, "User-Agent": "Mozilla/5.0 (iPhone)"}
            assert self.client.get("/a", headers=visit).status_code == 302

    def page(self, **query: Any) -> dict[str, Any]:
        """A page of its feed."""
        answer = self.client.get(EVENTS, params={"types": "click"} | query)
        assert answer.status_code == 200, answer.text
        page: dict[str, Any] = answer.json()
        return page

    def clicks(self, number: int) -> list[dict[str, Any]]:
        """All its clicks, once there are so many."""
        page = wait_for(self.page, "clicks", lambda page: len(page["events"]) >= number)
        events: list[dict[str, Any]] = page["events"]
        return events


@contextmanager
def shop_of(service: ServiceProcess) -> Iterator[Shop]:
    """A new organization of this service."""
    org_id = make_organization(service, "Acme")
    domain = f"go.{uuid.uuid4().hex[:8]}.localhost"
    service.command("domain", "add", domain, "--org", org_id)
    key = make_key(service, org_id, "rest")
    with httpx.Client(base_url=service.base_url, headers={"API-KEY": key}, timeout=60) as client:
        body = {
            "domain": domain, "selected_path": "a", "destination_url": "https://a.example", "link_name": "A",
        }  # fmt: skip
        client.post(f"{API}/create-link", json=body).raise_for_status()
        yield Shop(service, org_id, key, domain, client)


@pytest.fixture
def shop(running: ServiceProcess) -> Iterator[Shop]:
    """An organization of this test's own."""
    with shop_of(running) as shop:
        yield shop


class Stream:
    """What comes over a stream, collected in a thread."""

    def __init__(self, shop: Shop, query: str = "types=click", **headers: str) -> None:
        self.messages: list[dict[str, str]] = []
        self.lines: list[str] = []
        self.headers: httpx.Headers | None = None
        self.problem: Exception | None = None
        self._thread = threading.Thread(target=self._read, args=(shop, query, headers))
        self._thread.start()
        wait_for(lambda: "" in self.lines or self.problem, "the stream to begin")

    def _read(self, shop: Shop, query: str, headers: dict[str, str]) -> None:
        asked = {"API-KEY": shop.key, "Accept": "text/event-stream"} | headers
        address = f"{shop.service.base_url}{EVENTS}?{query}"
        try:
            with httpx.stream("GET", address, headers=asked, timeout=60) as answer:
                answer.raise_for_status()
                self.headers = answer.headers
                self._collect(answer)
        except Exception as error:
            self.problem = error

    def _collect(self, answer: httpx.Response) -> None:
        message: dict[str, str] = {}
        for line in answer.iter_lines():
            if not line and "data" in message:
                self.messages.append(message)
            name, _, value = line.partition(": ")
            message = message | {name: value} if line else {}
            self.lines.append(line)

    def has(self, number: int) -> list[dict[str, str]]:
        """The messages, once there are so many."""
        return wait_for(lambda: self.messages, "messages", lambda messages: len(messages) >= number)

    @property
    def goes_on(self) -> bool:
        """Whether the service has not ended it."""
        return self._thread.is_alive()

    def ended(self) -> None:
        """Return once the service has ended the stream, as it should."""
        self._thread.join(timeout=30)
        assert not self._thread.is_alive()
        assert self.problem is None


def test_a_stream_tells_what_comes(shop: Shop) -> None:
    """What was before, then what comes, as the same events; `Last-Event-ID` goes on there and wins over
    `after`; a revoked key ends it."""
    shop.click(2)
    before = shop.clicks(2)
    stream = Stream(shop)
    assert stream.headers is not None
    assert stream.headers["Content-Type"] == "text/event-stream"
    assert stream.headers["Cache-Control"] == "no-store"
    assert stream.lines[0] == "retry: 2000"
    first = stream.has(2)[0]
    shop.click()
    assert [message["event"] for message in stream.has(3)] == ["click"] * 3
    events = shop.clicks(3)
    assert events[:2] == before
    assert [httpx.Response(200, text=message["data"]).json() for message in stream.messages] == events
    again = Stream(shop, "types=click&after=now", **{"Last-Event-ID": first["id"]})
    assert again.has(2) == stream.messages[1:]
    behind = shop.page(after=first["id"])
    assert behind["events"] == events[1:]
    from_now_on = Stream(shop, "types=click&after=now")
    shop.click()
    assert from_now_on.has(1) == stream.has(4)[3:] == again.has(3)[2:]
    streams = (stream, again, from_now_on)
    [key] = shop.service.command("key", "list", "--org", shop.org_id)["keys"]
    shop.service.command("key", "revoke", key["id"], "--yes")
    with shop_again(shop) as other:

        def go_on() -> list[Stream]:
            other.click()
            return [stream for stream in streams if stream.goes_on]

        wait_for(go_on, "the streams to end", lambda left: not left)
    for stream in streams:
        stream.ended()


@contextmanager
def shop_again(shop: Shop) -> Iterator[Shop]:
    """The same organization with another key."""
    key = make_key(shop.service, shop.org_id, "rest")
    with httpx.Client(base_url=shop.service.base_url, headers={"API-KEY": key}, timeout=60) as client:
        yield Shop(shop.service, shop.org_id, key, shop.domain, client)


def test_a_stopping_service_lets_go(start_service: ServiceStarter) -> None:
    """Whoever waits is answered as soon as the service begins to stop: with a page without events, or the end
    of the stream."""
    with start_service(WAYLINK_DRAIN_SECONDS="2") as service, shop_of(service) as shop:
        stream = Stream(shop, "after=now")
        with ThreadPoolExecutor(20) as threads:
            cursor = shop.page()["next_cursor"]
            waits = [threads.submit(shop.page, after=cursor, wait=30) for _ in range(20)]
            wait_for(lambda: sum(wait.running() for wait in waits) == 20, "waiting requests")
            began = time.monotonic()
            assert service.stop() == 0
            assert [wait.result()["events"] for wait in waits] == [[]] * 20
        stream.ended()
        assert time.monotonic() - began < 15
