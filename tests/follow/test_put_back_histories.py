"""Random histories of a feed that is put back from backups: no reader has a hole, and rows are the feed's."""

from __future__ import annotations

import random
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence, Set
from datetime import UTC, datetime, timedelta

import pytest
from bson import Timestamp

from backend.app import Service
from backend.domain.clicks.block import blocks_of
from backend.domain.feed.cursor import START, Cursor
from backend.domain.feed.events import USUAL_TYPES, Event, EventType
from backend.domain.ids import LinkId, OrgId
from backend.domain.web.short_urls import ShortUrlForm
from backend.follow.follower import Follower
from backend.follow.target import FollowedFeed, TakenBack, entry_of
from backend.storage.clicks.blocks import ship_blocks
from backend.storage.clicks.logs import LogHead
from backend.storage.driver.mongo import Database
from backend.storage.feed.reading import read_feed
from backend.storage.outbox import entries
from backend.storage.outbox.marks import FeedPutBack
from backend.storage.outbox.sequencer import place_waiting
from tests.examples import examples
from tests.facts.clicks import click
from tests.facts.put_back import Backup, back_up, put_back
from tests.fresh_database import fresh_database

NOW = datetime(2026, 5, 6, 12, tzinfo=UTC)
FORM = ShortUrlForm()
LINK = LinkId(str(uuid.uuid4()))


@pytest.fixture(scope="module")
async def database(service: Service) -> AsyncIterator[Database]:
    """A database of this file's own, in which no service places events."""
    async with fresh_database(service.resources.database) as fresh:
        yield fresh


class Reader:
    """Reads pages and keeps the cursor, as a client of the REST API does."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._after = START
        self.read: set[str] = set()

    async def read_on(self, limit: int) -> None:
        """Read a page; where the feed was put back, begin where it says."""
        history = self._history
        while True:
            try:
                page = await read_feed(
                    history.database, history.org_id, self._after, url_form=FORM, limit=limit
                )
                break
            except FeedPutBack as error:
                self._after = error.common or START
        self.read |= {event.id for event in page.events}
        self._after = Cursor.parse(str(page.next_cursor))


class Rows:
    """A target with rows that can be deleted."""

    needs: Set[EventType] = frozenset()

    def __init__(self) -> None:
        self._cursor = START
        self.rows: dict[str, Cursor] = {}

    @property
    def ids(self) -> list[str]:
        """The ids of the rows in the feed's order."""
        return sorted(self.rows, key=lambda event_id: self.rows[event_id])

    async def open(self, _: FollowedFeed) -> Cursor:
        """The stored cursor."""
        return self._cursor

    async def write(self, events: Sequence[Event], cursor: Cursor) -> None:
        """Add rows, of which none is there."""
        assert self.rows.keys().isdisjoint(event.id for event in events)
        self.rows |= {event.id: event.cursor for event in events}
        self._cursor = cursor

    async def last_entries(self, place: int, limit: int) -> Mapping[int, str]:
        """The last entries up to this place, few at a time."""
        seen = {cursor.place: entry_of(event_id) for event_id, cursor in self.rows.items()}
        return {at: seen[at] for at in sorted(seen, reverse=True) if at <= place and limit}

    async def go_back(self, cursor: Cursor) -> TakenBack:
        """Delete the rows behind the cursor."""
        kept = {event_id: behind for event_id, behind in self.rows.items() if behind <= cursor}
        taken = TakenBack(len(self.rows) - len(kept), 0)
        self.rows, self._cursor = kept, cursor
        return taken

    async def close(self) -> None:
        """Nothing is open."""


class Unheard:
    """Hears how a follower does, and says nothing."""

    def opened(self, cursor: Cursor) -> None:
        """Say nothing."""

    def wrote(self, events: list[Event], cursor: Cursor) -> None:
        """Say nothing."""

    def went_back(self, cursor: Cursor, common: Cursor, taken: TakenBack) -> None:
        """Say nothing."""

    def reached_end(self) -> None:
        """Say nothing."""

    def waits(self, reason: str) -> None:
        """Say nothing."""


class History:
    """A feed to which something happens in random order, by a clock that goes on an hour with each step."""

    def __init__(self, database: Database, seed: str) -> None:
        self.database = database
        self.org_id = OrgId(str(uuid.uuid4()))
        self.deleted: set[str] = set()
        self._chance = random.Random(seed)
        self._second = self._put_back_at = 1_600_000_000
        self._backup: Backup | None = None

    async def go_on(self) -> None:
        """One random step."""
        self._second += 3600
        step = self._chance.choices(
            [self._store, self._store_late, self._place, self._back_up, self._put_back, self._delete],
            [6, 2, 6, 2, 2, 1],
        )[0]
        await step()

    async def end(self) -> list[str]:
        """Give all entries their places. Returns the ids of the feed's events."""
        await self._store()
        await place_waiting(self.database)
        page = await read_feed(self.database, self.org_id, START, url_form=FORM)
        return [event.id for event in page.events]

    async def _store(self, ago: int = 0) -> None:
        for number in range(self._chance.randint(1, 3)):
            clicks = [click(self.org_id, LINK, NOW + timedelta(seconds=at)) for at in range(2)]
            await ship_blocks(self.database, uuid.uuid4().hex, LogHead(), 100, blocks_of(clicks))
            stamp = Timestamp(max(self._put_back_at, self._second - ago), number + 1)
            new = {"org_id": self.org_id, "waits": True, "stamp": {"$gt": Timestamp(self._second, 10)}}
            await self.database[entries.NAME].update_one(new, {"$set": {"stamp": stamp}})

    async def _store_late(self) -> None:
        """An entry that was written before others of now, and committed after them."""
        await self._store(ago=self._chance.choice([1, 3600, 7200]))

    async def _place(self) -> None:
        await place_waiting(self.database, self._chance.randint(1, 4))

    async def _back_up(self) -> None:
        self._backup = await back_up(self.database, self.org_id)

    async def _put_back(self) -> None:
        if self._backup is not None:
            await put_back(self.database, self.org_id, self._backup)
            self._put_back_at = self._second

    async def _delete(self) -> None:
        """Retention deletes some of the older entries."""
        placed = {"org_id": self.org_id, "place": {"$exists": True}}
        stored = await self.database[entries.NAME].find(placed).sort("place", 1).to_list(None)
        for entry in stored[: self._chance.randint(0, len(stored))]:
            await self.database[entries.NAME].delete_one({"_id": entry["_id"]})
            self.deleted.add(entry["_id"].partition("/")[2])


@pytest.mark.parametrize("number", range(examples(8)))
async def test_whoever_keeps_a_place_goes_right(database: Database, number: int) -> None:
    """Readers have read all that is there in the end; a target has the feed's rows, and no others.

    Entries that retention deletes don't count: a backup may bring them back for a time.
    """
    seed = f"{number} {random.random()}"  # in the message of a failure
    history, rows, chance = History(database, seed), Rows(), random.Random(seed)
    readers = [Reader(history) for _ in range(3)]
    for _ in range(40):
        await history.go_on()
        for reader in readers:
            if chance.random() < 0.3:
                await reader.read_on(chance.randint(1, 9))
        if chance.random() < 0.3:
            await follow(history, rows)
    feed = await history.end()
    await follow(history, rows)
    known = [event_id for event_id in feed if entry_of(event_id) not in history.deleted]
    kept = [event_id for event_id in rows.ids if entry_of(event_id) not in history.deleted]
    assert kept == known, seed
    for reader in readers:
        await reader.read_on(1_000)
        assert reader.read.issuperset(known), seed


async def follow(history: History, target: Rows) -> None:
    """Follow the feed to its end."""
    followed = FollowedFeed(history.org_id, USUAL_TYPES, START)
    follower = Follower(
        history.database, followed, target, Unheard(), name="into rows", url_form=FORM, once=True
    )
    await follower.run()
