"""Reading a feed in its order."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from backend.app import Service
from backend.domain.clicks.block import blocks_of
from backend.domain.feed.cursor import START, Cursor
from backend.domain.feed.events import Event, EventType
from backend.domain.ids import LinkId, OrgId
from backend.domain.web.short_urls import ShortUrlForm
from backend.storage.clicks.blocks import ship_blocks
from backend.storage.clicks.logs import LogHead
from backend.storage.driver.mongo import Database
from backend.storage.feed.reading import read_feed
from backend.storage.outbox.marks import cursor_at
from backend.storage.outbox.sequencer import place_waiting
from tests.facts.clicks import click
from tests.fresh_database import fresh_database

NOW = datetime(2026, 5, 6, 12, tzinfo=UTC)
FORM = ShortUrlForm()
LINK = LinkId(str(uuid.uuid4()))


@pytest.fixture(scope="module")
async def database(service: Service) -> AsyncIterator[Database]:
    """A database of this file's own, in which no service places events."""
    async with fresh_database(service.resources.database) as fresh:
        yield fresh


@pytest.fixture
def org_id() -> OrgId:
    """An organization of this test's own."""
    return OrgId(str(uuid.uuid4()))


async def ship(database: Database, org_id: OrgId, clicks: int, first: int = 0) -> None:
    """Store a block of so many clicks, a second apart."""
    made = [click(org_id, LINK, NOW + timedelta(seconds=first + number)) for number in range(clicks)]
    await ship_blocks(database, uuid.uuid4().hex, LogHead(), 100, blocks_of(made))


async def test_what_waits_is_not_seen(database: Database, org_id: OrgId) -> None:
    """Events are seen once they have their places, and then in pages of any size, each once and in order."""
    await ship(database, org_id, 5)
    await ship(database, org_id, 3, first=5)
    page = await read_feed(database, org_id, START, url_form=FORM)
    assert (list(page.events), page.next_cursor, page.has_more) == ([], START, False)
    assert await place_waiting(database) == 2
    whole = await read_feed(database, org_id, START, url_form=FORM)
    assert [event.at for event in whole.events] == [NOW + timedelta(seconds=number) for number in range(8)]
    assert (whole.next_cursor, whole.has_more) == (Cursor(3), False)
    assert len({event.id for event in whole.events}) == 8
    for size in (1, 2, 3, 7, 8, 9):
        read: list[Event] = []
        cursor, has_more = START, True
        while has_more:
            part = await read_feed(database, org_id, cursor, url_form=FORM, limit=size)
            read += part.events
            cursor, has_more = Cursor.parse(str(part.next_cursor)), part.has_more
        assert read == list(whole.events)
    behind = [await read_feed(database, org_id, event.cursor, url_form=FORM) for event in whole.events]
    assert [list(page.events) for page in behind] == [list(whole.events[n:]) for n in range(1, 9)]
    leads = await read_feed(database, org_id, START, url_form=FORM, types=[EventType.LEAD])
    assert not leads.events


async def test_where_a_moment_is(database: Database, org_id: OrgId) -> None:
    """A cursor for a moment is before everything that was stored since."""
    assert await cursor_at(database, org_id, datetime.now(UTC)) == START
    for _ in range(5):
        await ship(database, org_id, 1)
        await place_waiting(database)
    assert await cursor_at(database, org_id, NOW - timedelta(days=400)) == START
    assert await cursor_at(database, org_id, datetime.now(UTC) + timedelta(days=1)) == Cursor(6)
