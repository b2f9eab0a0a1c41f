"""Reads the events of an organization's feed behind a cursor, in their order.

Entries have their places already (storage/outbox/sequencer), and are read in one snapshot with the documents
that they name. Events that were erased or have expired are left out; other events keep their ids and places.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from backend.domain.feed.cursor import Cursor
from backend.domain.feed.events import USUAL_TYPES, Event, EventType
from backend.domain.feed.facts import events_of
from backend.domain.ids import OrgId
from backend.domain.web.short_urls import ShortUrlForm
from backend.storage.driver.mongo import ClientSession, Database, Document
from backend.storage.feed.loaders.loading import loaders
from backend.storage.feed.loaders.runs import Run
from backend.storage.outbox import entries, heads
from backend.storage.outbox.entries import AgesBy
from backend.storage.outbox.marks import check_cursor, cursor_before, is_lost

MOST_EVENTS = 5_000
# Entries that MongoDB returns in one batch.
_ENTRIES_PER_BATCH = 500
# The most entries that are searched for a page, which bounds its time where events of the types are rare.
_MOST_PLACES = 50_000


@dataclass(frozen=True, slots=True)
class FeedPage:
    """A part of a feed: its events, the cursor behind it, and whether the feed has more events now.

    It may be empty although there is more, where a long part of the feed has no events of the types.
    """

    events: Sequence[Event]
    next_cursor: Cursor
    has_more: bool


async def read_feed(
    database: Database,
    org_id: OrgId,
    after: Cursor,
    *,
    url_form: ShortUrlForm,
    types: Collection[EventType] = USUAL_TYPES,
    limit: int = MOST_EVENTS,
) -> FeedPage:
    """The organization's events behind this cursor that are of these types, at most `limit`.

    `url_form` says how their short URLs are written. An event that was committed before another one comes
    before it, on this page or an earlier one. Raises StorageError, and FeedPutBack if the feed is not the one
    that was read up to the cursor.
    """
    async with await database.client.start_session(snapshot=True) as session:
        head = (await heads.find_heads(database, [org_id], session))[org_id]
        if not await is_lost(database, org_id, after, head, session):
            load = partial(_load, database, session, org_id, url_form)
            return await _read(database, session, org_id, after, head, load, types, limit)
    await check_cursor(database, org_id, after)
    return FeedPage([], after, has_more=True)


async def _read(  # noqa: PLR0917 - what `read_feed` gets, and the feed's last place
    database: Database,
    session: ClientSession,
    org_id: OrgId,
    after: Cursor,
    head: int,
    load: Callable[[Sequence[Run]], Awaitable[list[Event]]],
    types: Collection[EventType],
    limit: int,
) -> FeedPage:
    last = min(head, after.place + _MOST_PLACES)
    runs: list[Run] = []
    remaining = limit
    condition = _condition(org_id, after, last, types)
    cursor = database[entries.NAME].find(condition, session=session, batch_size=_ENTRIES_PER_BATCH)
    async for entry in cursor.sort("place", 1):
        for run in _runs(entry, after, types):
            if not remaining:
                return FeedPage(await load(runs), runs[-1].end, has_more=True)
            part = replace(run, count=min(run.count, remaining))
            remaining -= part.count
            runs.append(part)
            if part.count < run.count:
                return FeedPage(await load(runs), part.end, has_more=True)
    behind = after
    if after < Cursor(last + 1):
        behind = await cursor_before(database, org_id, last + 1, session)
    return FeedPage(await load(runs), behind, has_more=last < head)


async def waits_since(database: Database, org_id: OrgId, cursor: Cursor) -> datetime | None:
    """The time when the entry behind the cursor was stored; None if there is none."""
    next_place = {"org_id": org_id, "place": {"$gte": cursor.place}}
    entry = await database[entries.NAME].find_one(next_place, {"stamp": 1}, sort=[("place", 1)])
    if entry is None:
        return None
    stored_at: datetime = entry["stamp"].as_datetime()
    return stored_at


def _condition(org_id: OrgId, after: Cursor, last: int, types: Collection[EventType]) -> Document:
    """The query for entries behind the cursor, up to the place `last`, that have facts of these types."""
    condition: Document = {"org_id": org_id, "place": {"$gte": after.place, "$lte": last}}
    if types == USUAL_TYPES:
        condition["ages_by"] = {"$ne": AgesBy.AUDIT.value}
    elif len(types) < len(EventType):
        condition["facts.type"] = {"$in": [type_.value for type_ in types]}
    return condition


def _runs(entry: Document, after: Cursor, types: Collection[EventType]) -> Iterator[Run]:
    """The entry's facts of these types, without events before the cursor."""
    own_id, stored_at = entry["_id"].partition("/")[2], entry["stamp"].as_datetime()
    index = 0
    for fact in entry["facts"]:
        count = events_of(fact)
        read = max(0, after.index - index) if entry["place"] == after.place else 0
        if fact["type"] in types and read < count:
            yield Run(own_id, entry["place"], index + read, fact, read, count - read, stored_at)
        index += count


async def _load(
    database: Database, session: ClientSession, org_id: OrgId, url_form: ShortUrlForm, runs: Sequence[Run]
) -> list[Event]:
    """The events of these runs, in their order, without those whose data was deleted."""
    events: dict[Cursor, list[Event]] = {}
    loader = loaders(url_form)
    for type_ in dict.fromkeys(run.fact["type"] for run in runs):
        runs_of_type = [run for run in runs if run.fact["type"] == type_]
        for run, contents in zip(
            runs_of_type, await loader[type_](database, session, org_id, runs_of_type), strict=True
        ):
            events[run.end] = [
                Event(
                    run.id_of(number),
                    EventType(type_),
                    content.at,
                    org_id,
                    content.data,
                    run.cursor_behind(number),
                )
                for number, content in enumerate(contents)
                if content is not None
            ]
    return [event for run in runs for event in events[run.end]]
