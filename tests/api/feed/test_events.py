"""GET /events: pages of an organization's feed, and waiting for more."""

from __future__ import annotations

import asyncio
import json
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import jsonschema_rs
import pytest

from backend.app import Service
from backend.domain.feed.events import EventType
from backend.domain.ids import LinkId
from backend.json_api import error_table
from backend.storage.driver.mongo import Database
from backend.storage.outbox import watch
from tests.api.link_calls import API
from tests.conftest import OrganizationFactory
from tests.facts.clicks import click, ship
from tests.facts.organizations import TestOrganization
from tests.facts.told_history import TYPES, tell_history
from tests.polling import until, wait_for_async

NOW = datetime(2026, 5, 6, 12, tzinfo=UTC)
LINK = LinkId("9d6bfb5c-0c9e-4a04-9d0e-6f2f1f6b1f2a")
LINES = "application/x-ndjson"


@dataclass(frozen=True, slots=True)
class Feed:
    """The feed of an organization, over the REST API."""

    client: httpx.AsyncClient
    database: Database
    organization: TestOrganization

    async def get(self, query: str = "", **headers: str) -> httpx.Response:
        """The answer for this query string."""
        headers = self.organization.headers | headers
        return await self.client.get(f"{API}/events?{query}", headers=headers, timeout=60)

    async def page(self, query: str = "") -> dict[str, Any]:
        """A page for this query string."""
        answer = await self.get(query)
        assert answer.status_code == 200, answer.text
        page: dict[str, Any] = answer.json()
        return page

    async def refusal(self, query: str) -> tuple[str, str]:
        """The field that is at fault in a query string, and what is said of it."""
        answer = await self.get(query)
        assert answer.status_code == 400, answer.text
        error = answer.json()["error"]
        return error["fieldName"], error["errorMessage"]

    async def click(self, times: int = 1, first: int = 0) -> None:
        """Store a block of so many clicks, a second apart, and wait until the feed has it."""
        end = (await self.page("after=now"))["next_cursor"]
        clicks = [
            click(self.organization.id, LINK, NOW + timedelta(seconds=first + number))
            for number in range(times)
        ]
        await ship(self.database, clicks)
        await wait_for_async(lambda: self.page(f"after={end}"), "the clicks", lambda page: page["events"])


@pytest.fixture
def feed(client: httpx.AsyncClient, database: Database, organization: TestOrganization) -> Feed:
    """The feed of this test's organization."""
    return Feed(client, database, organization)


async def assert_as_described(client: httpx.AsyncClient, page: dict[str, Any]) -> None:
    """The page is one that the OpenAPI document has, and so is each event of it."""
    document = (await client.get(f"{API}/openapi.json")).json()
    schema = {"$ref": "#/components/schemas/EventPage", "components": document["components"]}
    validator = jsonschema_rs.validator_for(schema, validate_formats=True)
    assert [str(error) for error in validator.iter_errors(page)] == []


async def test_every_event_is_as_described(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database, feed: Feed
) -> None:
    """Whatever happens, its event has the shape that the OpenAPI document says for its type."""
    await tell_history(client, organization, database)
    page = await feed.page("limit=5000")
    assert {event["type"] for event in page["events"]} == TYPES
    await assert_as_described(client, page)


async def test_pages_and_lines(feed: Feed) -> None:
    """Pages of any size have the same events in the same order, as JSON and as lines; a reader that comes
    back goes on where it was."""
    await feed.click(5)
    await feed.click(3, first=5)
    whole = await feed.page()
    assert whole["has_more"] is False
    assert len({event["id"] for event in whole["events"]}) == 8
    first = whole["events"][0]
    assert list(first) == ["id", "type", "at", "org_id", "data"]
    assert (first["type"], first["at"]) == ("click", "2026-05-06T12:00:00.000Z")
    assert first["data"]["link_id"] == LINK
    for limit in (1, 3, 8):
        pages, lines, query = [], [], ""
        while True:
            page = await feed.page(f"limit={limit}{query}")
            answer = await feed.get(f"limit={limit}{query}", Accept=LINES)
            pages += page["events"]
            lines += [json.loads(line) for line in answer.text.splitlines()]
            assert answer.headers["Content-Type"] == LINES
            assert answer.headers["Waylink-Next-Cursor"] == page["next_cursor"]
            assert answer.headers["Waylink-Has-More"] == str(page["has_more"]).lower()
            query = f"&after={page['next_cursor']}"
            if not page["has_more"]:
                break
        assert pages == lines == whole["events"]
    assert (await feed.page(query[1:]))["events"] == []
    await feed.click(1, first=8)
    assert [event["at"] for event in (await feed.page(query[1:]))["events"]] == ["2026-05-06T12:00:08.000Z"]


async def test_types(feed: Feed) -> None:
    """Only events of the types that are asked for come; the cursor goes on behind the others."""
    await feed.click(2)
    assert len((await feed.page("types=lead,click"))["events"]) == 2
    leads = await feed.page("types=lead")
    assert (leads["events"], leads["has_more"]) == ([], False)
    assert leads["next_cursor"] == (await feed.page())["next_cursor"]


async def test_from_now_on(feed: Feed) -> None:
    """`after=now` gives the cursor behind all that there is."""
    await feed.click(2)
    page = await feed.page("after=now")
    assert (page["events"], page["has_more"]) == ([], False)
    assert page["next_cursor"] == (await feed.page())["next_cursor"]


async def test_what_is_refused(feed: Feed, make_organization: OrganizationFactory) -> None:
    """Each parameter that is wrong is named with its rule, also a cursor that this feed can't have given."""
    other = Feed(feed.client, feed.database, await make_organization())
    await other.click(1)
    foreign = (await other.page())["next_cursor"]
    ahead = "after is ahead of this feed, which has not given it"
    assert (await feed.get(f"after={foreign}")).status_code == 410
    assert await feed.refusal("after=1.5") == ("after", ahead)
    malformed = "after must be a cursor that this feed gave, or now"
    for text in ("", "x", "1", "01.0", "-1.0", "1.0.0", "1" * 30 + ".0", "%00"):
        assert await feed.refusal(f"after={text}") == ("after", malformed), text
    name, rule = await feed.refusal("types=click,sale")
    assert (name, rule) == (
        "types", f"types must be types of events, separated by commas: {', '.join(EventType)}",
    )  # fmt: skip
    assert (await feed.refusal("limit=0"))[1] == "limit must be a whole number from 1 to 5000"
    assert (await feed.refusal("wait=31"))[1] == "wait must be a whole number from 0 to 30"
    assert (await feed.refusal("colour=red"))[0] == "colour"
    answer = await feed.get("limit=0&wait=x")
    assert [error["fieldName"] for error in answer.json()["errors"]] == ["limit", "wait"]


async def test_a_stream_takes_no_pages(feed: Feed) -> None:
    """A stream is refused parameters of pages, and a wrong `Last-Event-ID` by that name."""
    answer = await feed.get("limit=5", Accept="text/event-stream")
    assert (answer.status_code, answer.json()["error"]["fieldName"]) == (400, "limit")
    for last in ("x", "7.0"):
        answer = await feed.get(Accept="text/event-stream", **{"Last-Event-ID": last})
        assert (answer.status_code, answer.json()["error"]["fieldName"]) == (400, "Last-Event-ID")


async def test_nothing_of_another_organization(feed: Feed, make_organization: OrganizationFactory) -> None:
    """Neither are its events read, nor do they end a wait."""
    other = Feed(feed.client, feed.database, await make_organization())
    waiting = asyncio.create_task(feed.page("wait=1"))
    await other.click(3)
    assert (await waiting)["events"] == []
    assert (await feed.page())["events"] == []
    assert {event["org_id"] for event in (await other.page())["events"]} == {other.organization.id}


async def test_a_wait_ends_with_what_it_waits_for(feed: Feed) -> None:
    """Clicks end the wait of those that want clicks, and no others; these are told where to go on when their
    time is over."""
    waiting = [asyncio.create_task(feed.get(query)) for query in ("wait=30", "wait=30&types=lead,click")]
    others = asyncio.create_task(feed.page("wait=2&types=lead"))
    await feed.click(2)
    for answer in await asyncio.gather(*waiting):
        page = answer.json()
        assert [event["type"] for event in page["events"]] == ["click", "click"]
    assert not others.done()
    page = await others
    assert (page["events"], page["has_more"]) == ([], False)
    assert page["next_cursor"] == (await feed.page())["next_cursor"]


async def test_a_wait_counts_once(feed: Feed) -> None:
    """Against the key's limit a request that waits is one, however often the feed is looked at for it."""
    left = [int((await feed.get("wait=1&types=lead")).headers["RateLimit-Remaining"]) for _ in range(2)]
    assert left in ([left[0], left[0] - 1], [left[0], 1_000_000 - 1])  # or a new minute has begun


async def test_a_wait_ends_when_its_client_leaves(
    service: Service, feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It holds a place among the organization's waiting requests, of which there are only so many, no
    longer."""
    monkeypatch.setattr(watch, "MOST_READERS", 1)
    gone = asyncio.Event()
    messages = [{"type": "http.request", "body": b""}]

    async def receive() -> dict[str, Any]:
        if messages:
            return messages.pop()
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(_: object) -> None:
        pass

    waiting = asyncio.create_task(service(scope_of(feed, b"wait=30"), receive, send))
    await until(lambda: not service.resources.feed.has_room(feed.organization.id), "the place to be taken")
    refused = await feed.get("wait=1")
    assert refused.status_code == 429
    assert refused.json() == error_table.TOO_MANY_READERS.body()
    assert refused.headers["Retry-After"] == "30"
    assert (await feed.get()).status_code == 200
    assert (await feed.get(Accept="text/event-stream")).status_code == 429
    gone.set()
    await asyncio.wait_for(waiting, timeout=10)
    assert (await feed.get("wait=1")).status_code == 200


def scope_of(feed: Feed, query: bytes) -> dict[str, Any]:
    """The request for events with this query string, as a server gives it."""
    return {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": f"{API}/events",
        "raw_path": f"{API}/events".encode(),
        "query_string": query,
        "headers": [(b"host", b"localhost"), (b"api-key", feed.organization.rest_key.encode())],
        "client": ("127.0.0.1", 1),
        "server": ("localhost", 80),
        "extensions": {},
    }


async def test_a_key_of_another_kind_reads_nothing(feed: Feed) -> None:
    """Only REST keys do."""
    for key in (feed.organization.web_key, feed.organization.mobile_key, f"c_api_{uuid.uuid4().hex}"):
        answer = await feed.client.get(f"{API}/events", headers={"API-KEY": key})
        assert answer.status_code == 401
