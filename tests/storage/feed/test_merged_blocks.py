"""Clicks in a feed after their blocks were merged."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from backend.app import Service
from backend.domain.feed.cursor import START, Cursor
from backend.domain.feed.events import Event
from backend.domain.ids import LinkId, OrgId
from backend.domain.web.short_urls import ShortUrlForm
from backend.storage.clicks.blocks import NAME, parts_of
from backend.storage.clicks.merges import merge_small_blocks
from backend.storage.driver.mongo import Database
from backend.storage.feed.packed import name_of, read_packed
from backend.storage.feed.reading import read_feed
from backend.storage.outbox.sequencer import place_waiting
from tests.facts.clicks import click, ship
from tests.fresh_database import fresh_database

NOW = datetime(2026, 5, 6, 12, tzinfo=UTC)
FORM = ShortUrlForm()
LINKS = [LinkId(str(uuid.uuid4())) for _ in range(3)]


@pytest.fixture(scope="module")
async def database(service: Service) -> AsyncIterator[Database]:
    """A database of this file's own, in which no service places events or merges blocks."""
    async with fresh_database(service.resources.database) as fresh:
        yield fresh


@pytest.fixture
def org_id() -> OrgId:
    """An organization of this test's own."""
    return OrgId(str(uuid.uuid4()))


async def ship_some(database: Database, org_id: OrgId, sizes: list[int], begin: int) -> None:
    """Store blocks of these sizes of one day, the later ones with the earlier clicks."""
    for number, size in enumerate(sizes):
        seconds = begin + 1_000 * (len(sizes) - number)
        made = [
            click(org_id, LINKS[n % 3], NOW + timedelta(seconds=seconds + n), referrer_host=f"{number}-{n}")
            for n in range(size)
        ]
        await ship(database, made)
        await place_waiting(database)


async def read_all(database: Database, org_id: OrgId, limit: int = 5_000) -> list[Event]:
    """The whole feed."""
    events: list[Event] = []
    cursor, has_more = START, True
    while has_more:
        page = await read_feed(database, org_id, cursor, url_form=FORM, limit=limit)
        events += page.events
        cursor, has_more = page.next_cursor, page.has_more
    return events


async def test_events_stay_the_same(database: Database, org_id: OrgId) -> None:
    """Each click has the same id, place and data after its block was merged, and that one merged again."""
    await ship_some(database, org_id, [3, 1, 4, 1, 5], begin=0)
    before = await read_all(database, org_id)
    assert len({event.id for event in before}) == 14
    assert await merge_small_blocks(database, org_id) == 4
    assert [await read_all(database, org_id, limit) for limit in (1, 3, 14, 99)] == [before] * 4
    await database[NAME].update_many({"org_id": org_id}, {"$set": {"is_small": True}})
    await ship_some(database, org_id, [2, 6], begin=9_000)
    longer = await read_all(database, org_id)
    assert longer[:14] == before
    assert await merge_small_blocks(database, org_id) == 2
    assert await read_all(database, org_id) == longer


async def test_a_merge_between_two_pages(database: Database, org_id: OrgId) -> None:
    """Who is in the middle of a block when it is merged goes on with the next click of it."""
    await ship_some(database, org_id, [3, 5, 2], begin=0)
    before = await read_all(database, org_id)
    page = await read_feed(database, org_id, START, url_form=FORM, limit=5)
    assert page.next_cursor == Cursor(2, 2)
    assert await merge_small_blocks(database, org_id) == 2
    behind = await read_feed(database, org_id, page.next_cursor, url_form=FORM)
    assert [*page.events, *behind.events] == before


async def test_packed_clicks(database: Database, org_id: OrgId) -> None:
    """Each block that was merged is found by its own name, in the document that has its clicks now."""
    await ship_some(database, org_id, [3, 1, 4], begin=0)
    assert await merge_small_blocks(database, org_id) == 2
    page = await read_packed(database, org_id, START)
    names = [name_of(fact) for entry in page.entries for fact in entry.facts]
    assert set(names) == set(page.named)
    (merged,) = {document["_id"]: document for document in page.named.values()}.values()
    assert sorted(part.id for part in parts_of(merged)) == sorted(name[1] for name in names if name)
