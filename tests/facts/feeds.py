"""Feeds for tests: everything that an organization's feed says."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache

import jsonschema_rs

from backend.domain.feed.cursor import START
from backend.domain.feed.event_shapes import EVENT_SHAPES
from backend.domain.feed.events import USUAL_TYPES, Event, EventType
from backend.domain.fields.shapes import schema_of
from backend.domain.ids import OrgId
from backend.domain.web.short_urls import ShortUrlForm
from backend.storage.driver.mongo import Database, Document
from backend.storage.feed.reading import read_feed
from backend.storage.outbox import entries
from backend.storage.outbox.sequencer import place_waiting


async def place_all(database: Database, org_id: OrgId) -> None:
    """Give everything that waits its place. A service may do so at the same time."""
    while await database[entries.NAME].find_one({"org_id": org_id, "waits": True}):
        await place_waiting(database)


async def read_all(
    database: Database, org_id: OrgId, types: Collection[EventType] = USUAL_TYPES
) -> list[Event]:
    """All events of the feed, each of its shape."""
    await place_all(database, org_id)
    page = await read_feed(database, org_id, START, url_form=ShortUrlForm(), types=types)
    assert not page.has_more
    for event in page.events:
        _validator(event.type).validate(event.data)
        assert event.data.keys() == schema_of(EVENT_SHAPES[event.type])["properties"].keys()
    return list(page.events)


def is_erasure(entry: Document) -> bool:
    """Whether an entry of the feed says for some time whom readers are to erase, and nothing else."""
    told = {fact["type"] for fact in entry.get("facts", ())}
    return bool(told) and told <= {"erased", "reread"} and "expires_at" in entry


@cache
def _validator(event_type: EventType) -> jsonschema_rs.Validator:
    """What checks the shape of such events: to make it takes much longer than to use it."""
    return jsonschema_rs.validator_for(schema_of(EVENT_SHAPES[event_type]))
