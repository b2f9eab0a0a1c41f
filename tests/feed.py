"""Feeds, read by tests: all that was noted, as soon as it has its place."""

from __future__ import annotations

from collections.abc import Collection

from backend.domain.feed.cursor import START, Cursor
from backend.domain.feed.events import Event, EventType
from backend.domain.ids import OrgId
from backend.domain.short_urls import ShortUrlForm
from backend.storage.feed import entries
from backend.storage.feed.reading import read_feed
from backend.storage.feed.sequencer import place_waiting
from backend.storage.mongo import Database

FORM = ShortUrlForm()
LINK_TYPES = (EventType.LINK_CREATED, EventType.LINK_CHANGED, EventType.LINK_ARCHIVED)


async def place_all(database: Database, org_id: OrgId) -> None:
    """Return once all that was noted for this organization has its place."""
    while await database[entries.NAME].find_one({"org_id": org_id, "waits": True}):
        await place_waiting(database)


async def events_of(
    database: Database,
    org_id: OrgId,
    types: Collection[EventType] = LINK_TYPES,
    *,
    after: Cursor = START,
    form: ShortUrlForm = FORM,
) -> list[Event]:
    """The organization's events of these types behind the cursor."""
    await place_all(database, org_id)
    events: list[Event] = []
    has_more = True
    while has_more:
        page = await read_feed(database, org_id, after, url_form=form, types=types)
        events += page.events
        after, has_more = page.next_cursor, page.has_more
    return events
