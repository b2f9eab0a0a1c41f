"""GET /clicks/export: single clicks as CSV and as lines of JSON."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import tracemalloc
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from pymongo import MongoClient

from backend.app import Service
from backend.domain.clicks.block import Block, block_of
from backend.domain.clicks.rows import COLUMNS, RowFormat, Selection
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.destinations.destination import Outcome
from backend.storage.accounts.organizations import set_click_days
from backend.storage.clicks.blocks import NAME, fields_of
from backend.storage.clicks.merges import merge_small_blocks
from backend.storage.clicks.single_clicks import written_clicks
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from backend.web import file_answer
from tests.api.link_calls import API, create, info
from tests.conftest import MovableClock, OrganizationFactory
from tests.facts.clicks import click, ship
from tests.facts.organizations import TestOrganization
from tests.processes.service_process import ServiceProcess

EXPORT = f"{API}/clicks/export"
START = datetime(2026, 3, 1, tzinfo=UTC)
LINK = LinkId("9d6bfb5c-0c9e-4a04-9d0e-6f2f1f6b1f2a")


async def export(client: httpx.AsyncClient, organization: TestOrganization, **query: str) -> httpx.Response:
    """The answer for March and April 2026, or for what `query` says."""
    params = {"from": "2026-03-01", "to": "2026-05-01"} | query
    return await client.get(EXPORT, params=params, headers=organization.headers)


def lines(answer: httpx.Response) -> list[dict[str, Any]]:
    """The clicks in an answer of lines of JSON."""
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


def times(answer: httpx.Response) -> list[str]:
    """The times of the clicks in an answer of lines of JSON."""
    return [line["time"] for line in lines(answer)]


async def store(database: Database, blocks: list[Block]) -> None:
    """Store blocks, without receipts."""
    documents = [
        {"_id": f"{block.org_id}/{uuid.uuid4()}", **fields_of(block), "is_small": True} for block in blocks
    ]
    await database[NAME].insert_many(documents)


async def test_both_formats(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """Every fact of a click, the same in both; CSV with headings, and without anything like a formula."""
    short_url = await create(client, organization)
    link_id = LinkId((await info(client, organization, short_url))["id"])
    at = START + timedelta(milliseconds=5)
    one = click(
        organization.id, link_id, at, outcome=Outcome.PREVIEW, platform="ios", system="iOS 17",
        browser="=cmd()", country="DE", referrer_host='a",b', variant="=B",
    )  # fmt: skip
    two = click(organization.id, LINK, START + timedelta(seconds=1), reason="head", client_kind="crawler")
    await ship(database, [two, one])
    answer = await export(client, organization, format="ndjson")
    assert answer.headers["Content-Type"] == "application/x-ndjson"
    first, second = lines(answer)
    assert first == {
        "time": "2026-03-01T00:00:00.005Z", "link_id": link_id, "short_url": short_url, "counted": True,
        "reason": None, "outcome": "preview", "platform": "ios", "system": "iOS 17", "browser": "=cmd()",
        "client_kind": "browser", "country": "DE", "referrer_host": 'a",b', "variant": "=B",
    }  # fmt: skip
    assert (second["link_id"], second["short_url"]) == (LINK, None)
    assert (second["counted"], second["reason"], second["client_kind"]) == (False, "head", "crawler")
    answer = await export(client, organization)
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert "attachment" in answer.headers["Content-Disposition"]
    names, *rows = csv.reader(io.StringIO(answer.text))
    assert tuple(names) == COLUMNS == tuple(first)
    assert rows[0] == [
        "2026-03-01T00:00:00.005Z", link_id, short_url, "true", "", "preview", "ios", "iOS 17", "'=cmd()",
        "browser", "DE", 'a",b', "'=B",
    ]  # fmt: skip
    assert rows[1][:5] == ["2026-03-01T00:00:01.000Z", LINK, "", "false", "head"]


async def test_the_beginning_is_included_and_the_end_is_not(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """To the millisecond, in any zone, within a block and across days; dates begin in UTC."""
    ats = [START + timedelta(hours=hours) for hours in (0, 1, 2, 24, 49)]
    await ship(database, [click(organization.id, LINK, at) for at in ats])

    async def hours(start: str, end: str) -> list[int]:
        exported = times(await export(client, organization, format="ndjson", **{"from": start, "to": end}))
        return [round((datetime.fromisoformat(time) - START) / timedelta(hours=1)) for time in exported]

    assert await hours("2026-03-01", "2026-03-02") == [0, 1, 2]
    assert await hours("2026-03-01T01:00:00Z", "2026-03-02T00:00:00.001Z") == [1, 2, 24]
    assert await hours("2026-03-01T02:00:00.001+01:00", "2026-03-03T01:00:00.001Z") == [2, 24, 49]
    assert await hours("2026-03-01T02:00Z", "2026-03-01T02:00Z") == []


async def test_days_in_order_and_blocks_sorted(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """Days come one after the other; the clicks of a block by time, however they were stored."""
    days = [[START + timedelta(days=day, seconds=second) for second in (9, 3, 5)] for day in range(3)]
    for day in reversed(days):
        await ship(database, [click(organization.id, LINK, at) for at in day])
    exported = times(await export(client, organization, format="ndjson"))
    assert len(exported) == 9
    assert exported == sorted(exported)


async def test_one_link(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """With `link`, only its clicks."""
    link_id = LinkId((await info(client, organization, await create(client, organization)))["id"])
    await ship(database, [click(organization.id, clicked, START) for clicked in (LINK, link_id, LINK)])
    exported = lines(await export(client, organization, format="ndjson", link=link_id.upper()))
    assert [line["link_id"] for line in exported] == [link_id]


async def test_nothing_of_another_organization(
    client: httpx.AsyncClient, make_organization: OrganizationFactory, database: Database
) -> None:
    """Clicks that came in one log with another organization's are not shown, nor its links found."""
    own, other = await make_organization(), await make_organization()
    theirs = LinkId((await info(client, other, await create(client, other)))["id"])
    await ship(database, [click(own.id, LINK, START), click(other.id, theirs, START)])
    assert [line["link_id"] for line in lines(await export(client, own, format="ndjson"))] == [LINK]
    refused = await export(client, own, link=theirs)
    assert (refused.status_code, refused.json()["error"]["fieldName"]) == (404, "LINK_NOT_FOUND")


async def test_a_merge_meanwhile_repeats_nothing(
    organization: TestOrganization, service: Service, database: Database
) -> None:
    """Blocks that are merged while they are read come once, with each of their clicks."""
    at = [START + timedelta(seconds=number) for number in range(1_200)]
    await store(
        database, [block_of(organization.id, [click(organization.id, LINK, moment)]) for moment in at]
    )
    await ship(database, [click(organization.id, LINK, START)])
    selection = Selection(START, START + timedelta(days=1))
    pieces = written_clicks(
        database, organization.id, selection, RowFormat.NDJSON, service.resources.short_url_form
    )
    read = await anext(pieces) + await anext(pieces)
    assert await merge_small_blocks(database, organization.id) > 900
    read += b"".join([piece async for piece in pieces])
    assert read.count(b"\n") == 1_201


BAD_QUERIES: list[tuple[Any, ...]] = [
    ({"from": ""}, "from"),
    ({"from": "2026-03-01T00:00:00"}, "from"),
    ({"from": "2026-02-30"}, "from"),
    ({"from": "yesterday"}, "from"),
    ({"to": "2026-02-28"}, "to"),
    ({"from": "2020-01-01"}, "from"),
    ({"from": "0001-01-01T00:00:00+10:00"}, "from"),
    ({"format": "xml"}, "format"),
    ({"link": "1"}, "link"),
    ({"colour": "red"}, "colour"),
]


async def test_a_bad_query(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """400, and the parameter's name."""
    for query, field in BAD_QUERIES:
        answer = await export(client, organization, **query)
        assert (answer.status_code, answer.json()["error"]["fieldName"]) == (400, field)


async def test_the_beginning_must_be_given(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """The end need not be: then it is now."""
    answer = await client.get(EXPORT, headers=organization.headers)
    assert answer.json()["error"]["errorMessage"] == "from parameter is required"
    answer = await client.get(EXPORT, params={"from": f"{utc_now():%Y-%m-%d}"}, headers=organization.headers)
    assert (answer.status_code, answer.text) == (200, ",".join(COLUMNS) + "\r\n")


async def test_since_when_clicks_are_kept(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database, clock: MovableClock
) -> None:
    """A header tells it, unless they are kept without limit."""
    await set_click_days(database, organization.id, 40)
    answer = await export(client, organization)
    since = datetime.fromisoformat(answer.headers["Waylink-Clicks-Since"])
    assert abs(since - (clock() - timedelta(days=40))) < timedelta(minutes=1)
    await set_click_days(database, organization.id, None)
    assert "Waylink-Clicks-Since" not in (await export(client, organization)).headers


def test_a_damaged_block(running: ServiceProcess) -> None:
    """All others come; the connection ends before the body's end, and from then on a header tells of it."""
    org_id = OrgId(running.command("organization", "create", "Acme")["id"])
    key = running.command("key", "create", "--org", org_id, "--kind", "rest")["key"]
    good = block_of(org_id, [click(org_id, LINK, START)])
    mongo: MongoClient[dict[str, Any]] = MongoClient(running.environment["WAYLINK_MONGODB_URI"])
    with mongo:
        blocks = mongo[running.environment["WAYLINK_MONGODB_DATABASE"]][NAME]
        for day, packed in enumerate((good.packed, b"\x01broken", good.packed)):
            at = START + timedelta(days=day)
            document = {"org_id": org_id, "clicks": 7, "first_at": at, "last_at": at, "packed": packed}
            blocks.insert_one({"_id": f"{org_id}/{day}", **document})
    query = {"from": "2026-03-01", "to": "2026-04-01"}
    with httpx.stream(
        "GET", running.base_url + EXPORT, params=query, headers={"API-KEY": key}, timeout=60
    ) as answer:
        read: list[bytes] = []
        with pytest.raises(httpx.RemoteProtocolError):
            read.extend(answer.iter_raw())
    assert b"".join(read).count(b"\r\n") == 3
    assert "Waylink-Clicks-Unreadable" not in answer.headers
    again = httpx.get(running.base_url + EXPORT, params=query, headers={"API-KEY": key}, timeout=60)
    assert again.text.count("\r\n") == 3
    assert again.headers["Waylink-Clicks-Unreadable"] == "7"
    told = running.refusal("report", "clicks", "--org", org_id, "--from", "2026-03-01")
    assert "7 requests of this time are missing" in told
    others = httpx.get(
        running.base_url + EXPORT, params={"from": "2026-03-03"}, headers={"API-KEY": key}, timeout=60
    )
    assert "Waylink-Clicks-Unreadable" not in others.headers


async def test_only_a_damaged_block(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """Where nothing else is there, the first answer tells of it already."""
    block = fields_of(block_of(organization.id, [click(organization.id, LINK, START)]))
    broken = block | {"_id": f"{organization.id}/0", "packed": b"\x01broken"}
    await database[NAME].insert_one(broken)
    answer = await export(client, organization)
    assert (answer.text.count("\r\n"), answer.headers["Waylink-Clicks-Unreadable"]) == (1, "1")


async def test_memory_is_bounded(
    organization: TestOrganization, service: Service, database: Database
) -> None:
    """Of 50,000 clicks in 50 blocks, ten are in memory at once: all, or all as text, would be too much."""
    clicks = [
        click(organization.id, LINK, START + timedelta(seconds=number), referrer_host=f"{number}.example")
        for number in range(1_000)
    ]
    block = block_of(organization.id, clicks)
    await store(database, [block] * 50)
    selection = Selection(START, START + timedelta(days=1))
    tracemalloc.start()
    count = 0
    form = service.resources.short_url_form
    async for piece in written_clicks(database, organization.id, selection, RowFormat.CSV, form):
        count += piece.count(b"\n")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 50_001
    assert peak < 8_000_000


async def test_a_client_that_stops_reading(
    service: Service, organization: TestOrganization, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer is given up after a while, without the end of its body, and nothing more is read."""
    monkeypatch.setattr(file_answer, "PIECE_SECONDS", 0.1)
    await store(database, [block_of(organization.id, [click(organization.id, LINK, START)] * 3_000)] * 4)
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)
        if message["type"] == "http.response.body":
            await asyncio.Event().wait()

    scope = {
        "type": "http", "http_version": "1.1", "method": "GET", "scheme": "http", "path": EXPORT,
        "raw_path": EXPORT.encode(), "query_string": b"from=2026-03-01&to=2026-03-02",
        "headers": [(b"host", b"localhost"), (b"api-key", organization.rest_key.encode())],
        "client": ("127.0.0.1", 1), "server": ("localhost", 80), "extensions": {},
    }  # fmt: skip
    await asyncio.wait_for(service(scope, asyncio.Event().wait, send), 20)
    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
    assert sent[-1]["more_body"]
