"""Cursors over the REST API after MongoDB was put back from a backup."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from backend.domain.accounts.permissions import Permission
from backend.domain.feed.cursor import Cursor
from backend.json_api import error_table
from backend.rest_api.feed.cursors import CURSOR_HEADER
from backend.storage.driver.mongo import Database
from backend.storage.feed.put_backs import list_put_backs
from tests.api.feed.test_events import Feed
from tests.api.link_calls import API
from tests.facts.organizations import TestOrganization, make_scoped_key
from tests.facts.put_back import back_up, put_back

STREAM = "text/event-stream"


@pytest.fixture
def feed(client: httpx.AsyncClient, database: Database, organization: TestOrganization) -> Feed:
    """The feed of this test's organization."""
    return Feed(client, database, organization)


def assert_gone(answer: httpx.Response, cursor: str) -> str:
    """The answer says that the feed has not what was before this cursor. Returns where to go on."""
    assert answer.status_code == 410, answer.text
    common = answer.headers[CURSOR_HEADER]
    row = error_table.FEED_PUT_BACK
    assert answer.json() == row.body(field="after", message=cursor, cursor=common)
    return common


async def lose(feed: Feed) -> list[str]:
    """Put MongoDB back from a backup from before three blocks of clicks. Returns cursors from since then."""
    await feed.click(2)
    backup = await back_up(feed.database, feed.organization.id)
    for number in range(3):
        await feed.click(3, first=10 * number)
    page = await feed.page("limit=7")
    cursors = [
        page["next_cursor"],
        (await feed.page())["next_cursor"],
        (await feed.page("after=now"))["next_cursor"],
    ]
    await put_back(feed.database, feed.organization.id, backup)
    return cursors


def ids(page: dict[str, Any]) -> list[str]:
    """The ids of a page's events."""
    return [event["id"] for event in page["events"]]


@pytest.mark.parametrize("came_since", [0, 2, 3, 5])
async def test_a_reader_has_no_hole(feed: Feed, came_since: int) -> None:
    """Fewer, as many or more blocks have come since: each form of answer says so, and where to go on."""
    cursors = await lose(feed)
    for _ in range(came_since):
        await feed.click(1)
    everything = ids(await feed.page())
    for cursor in cursors:
        for form in ("application/json", "application/x-ndjson", STREAM):
            common = assert_gone(await feed.get(f"after={cursor}", Accept=form), cursor)
            assert Cursor.parse(common) < Cursor.parse(cursor)
            assert set(everything[2:]) <= set(ids(await feed.page(f"after={common}")))
        found = [found.reader for found in await list_put_backs(feed.database, feed.organization.id)]
        assert len(found) == 1
        assert found[0].startswith("REST key ")
        last_id = {"Accept": STREAM, "Last-Event-ID": cursor}
        assert (await feed.get("", **last_id)).status_code == 410


async def test_readers_that_wait_are_told(feed: Feed) -> None:
    """A request that waits and a stream end while nothing new comes: the next one is told what happened."""
    await feed.click(2)
    backup = await back_up(feed.database, feed.organization.id)
    await feed.click(3)
    cursor = (await feed.page())["next_cursor"]
    waiting = asyncio.create_task(feed.get(f"after={cursor}&wait=30"))
    stream = asyncio.create_task(feed.get(f"after={cursor}", Accept=STREAM))
    await feed.get("after=now&wait=1")  # by then both wait
    await put_back(feed.database, feed.organization.id, backup)
    assert_gone(await waiting, cursor)
    assert (await stream).text.count("event:") == 0
    assert_gone(await feed.get(f"after={cursor}", Accept=STREAM), cursor)


async def test_the_audit_log(feed: Feed) -> None:
    """Its cursors are those of the feed."""
    log = f"{API}/audit"
    backup = await back_up(feed.database, feed.organization.id)
    await feed.click(1)
    key = await make_scoped_key(feed.database, feed.organization, [Permission.AUDIT_READ])
    headers = {"API-KEY": key}
    cursor = (await feed.client.get(log, headers=headers)).json()["next_cursor"]
    assert (await feed.client.get(log, headers=headers, params={"after": cursor})).status_code == 200
    await put_back(feed.database, feed.organization.id, backup)
    common = assert_gone(await feed.client.get(log, headers=headers, params={"after": cursor}), cursor)
    assert (await feed.client.get(log, headers=headers, params={"after": common})).status_code == 200
