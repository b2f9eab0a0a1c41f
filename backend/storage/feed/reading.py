"""Reads an organization's feed, behind a cursor and in its order.

Entries have their places already (storage/outbox/sequencer), and are read together with what they name as of
one moment. What was erased, or has expired, is left out: the events around it keep their ids and places.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from bson import Timestamp

from backend.domain.feed.cursor import Cursor
from backend.domain.feed.events import Event, EventType
from backend.domain.feed.facts import events_of
from backend.domain.ids import OrgId
from backend.domain.web.short_urls import ShortUrlForm
from backend.storage.driver.mongo import ClientSession, Database, Document
from backend.storage.feed.loading import loaders
from backend.storage.feed.runs import Run
from backend.storage.outbox import entries, heads

MOST_EVENTS = 5_000
# Entries that are read at a time.
_ENTRIES_AT_ONCE = 500
# Entries that are looked through for a page. Where few are of the wanted types, it would take too long else.
_MOST_PLACES = 50_000


@dataclass(frozen=True, slots=True)
class FeedPage:
    """A part of a feed: its events, where to go on, and whether there is more now.

    It may be empty although there is more, where a long part of the feed has no events of the wanted types.
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
    types: Collection[EventType] = frozenset(EventType),
    limit: int = MOST_EVENTS,
) -> FeedPage:
    """The organization's events behind this cursor that are of these types, at most `limit`.

    `url_form` says how their short URLs are written. Whatever was committed before an event that it gives, it
    gives before, or another page has given it. Raises StorageError.
    """
    async with await database.client.start_session(snapshot=True) as session:
        head = (await heads.find_heads(database, [org_id], session))[org_id]
        last = min(head, after.place + _MOST_PLACES)
        runs: list[Run] = []
        left = limit
        load = partial(_load, database, session, org_id, url_form)
        condition = _condition(org_id, after, last, types)
        found = database[entries.NAME].find(condition, session=session, batch_size=_ENTRIES_AT_ONCE)
        async for entry in found.sort("place", 1):
            for run in _runs(entry, after, types):
                if not left:
                    return FeedPage(await load(runs), run.begin, has_more=True)
                part = replace(run, count=min(run.count, left))
                left -= part.count
                runs.append(part)
                if part.count < run.count:
                    return FeedPage(await load(runs), part.end, has_more=True)
        behind = max(after, Cursor(last + 1))
        return FeedPage(await load(runs), behind, has_more=last < head)


async def cursor_at(database: Database, org_id: OrgId, moment: datetime) -> Cursor:
    """Where to begin to read what was stored since this moment."""
    first, behind = 1, (await heads.find_heads(database, [org_id]))[org_id] + 1
    wanted = Timestamp(max(0, int(moment.timestamp())), 0)  # nothing was stored before 1970
    while first < behind:
        middle = (first + behind) // 2
        place = {"$gte": middle, "$lt": behind}
        found = await database[entries.NAME].find_one(
            {"org_id": org_id, "place": place}, {"stamp": 1, "place": 1}, sort=[("place", 1)]
        )
        if found is None or found["stamp"] >= wanted:
            behind = middle
        else:
            first = found["place"] + 1
    return Cursor(first)


async def waits_since(database: Database, org_id: OrgId, cursor: Cursor) -> datetime | None:
    """When what comes next behind the cursor was stored; None if nothing does."""
    next_place = {"org_id": org_id, "place": {"$gte": cursor.place}}
    found = await database[entries.NAME].find_one(next_place, {"stamp": 1}, sort=[("place", 1)])
    if found is None:
        return None
    stored_at: datetime = found["stamp"].as_datetime()
    return stored_at


def _condition(org_id: OrgId, after: Cursor, last: int, types: Collection[EventType]) -> Document:
    """The query for entries behind the cursor, up to the place `last`, that have facts of these types."""
    condition: Document = {"org_id": org_id, "place": {"$gte": after.place, "$lte": last}}
    if len(types) < len(EventType):
        condition["facts.type"] = {"$in": [each.value for each in types]}
    return condition


def _runs(entry: Document, after: Cursor, types: Collection[EventType]) -> Iterator[Run]:
    """The entry's facts of these types, without events before the cursor."""
    own_id = entry["_id"].partition("/")[2]
    index = 0
    for fact in entry["facts"]:
        count = events_of(fact)
        read = max(0, after.index - index) if entry["place"] == after.place else 0
        if fact["type"] in types and read < count:
            yield Run(own_id, entry["place"], index + read, fact, read, count - read)
        index += count


async def _load(
    database: Database, session: ClientSession, org_id: OrgId, url_form: ShortUrlForm, runs: Sequence[Run]
) -> list[Event]:
    """The events of these runs, in their order, without those of which nothing is known any more."""
    known: dict[Cursor, list[Event]] = {}
    loader = loaders(url_form)
    for type_ in dict.fromkeys(run.fact["type"] for run in runs):
        own = [run for run in runs if run.fact["type"] == type_]
        for run, told in zip(own, await loader[type_](database, session, org_id, own), strict=True):
            known[run.begin] = [
                Event(run.id_of(n), EventType(type_), each.at, org_id, each.data, run.cursor_behind(n))
                for n, each in enumerate(told)
                if each is not None
            ]
    return [event for run in runs for event in known[run.begin]]
