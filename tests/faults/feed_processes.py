"""Processes that write, order and read feeds by the service's own code, and may stop before they commit.

Each tells by its connection what it does, a JSON text a step, and ends once something is sent to it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import signal
import threading
import time
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

from pymongo import monitoring

from backend.domain.clicks.block import blocks_of
from backend.domain.feed.cursor import START
from backend.domain.ids import LinkId, OrgId
from backend.domain.web.short_urls import ShortUrlForm
from backend.settings import Settings
from backend.storage.clicks.blocks import ship_blocks
from backend.storage.clicks.logs import AlreadyShipped, LogHead
from backend.storage.database import Indexes, open_database
from backend.storage.driver.mongo import Database, StorageError, is_unreachable
from backend.storage.feed.reading import FeedPage, read_feed
from backend.storage.outbox.sequencer import Sequencer, place_waiting
from tests.facts.clicks import click

FORM = ShortUrlForm()
NOW = datetime(2026, 5, 6, 12, tzinfo=UTC)
_AGAIN = 0.05  # seconds
_LONGEST_PAUSE = 0.1  # seconds between two blocks of a writer: more of them only take longer
_MOST_CLICKS = 3  # of a block
_MOST_EVENTS = 40  # of a page
_TASKS = 3  # that write at once in a process


@dataclass(frozen=True, slots=True)
class Place:
    """What a process works with. One in `stops` of its transactions is stopped before its
    commit; with 0 none is."""

    uri: str
    name: str
    org_ids: Sequence[OrgId]
    stops: int = 0


class _Stopper(monitoring.CommandListener):
    """Stops the process now and then before a commit is sent, until somebody lets it go on or kills it."""

    def __init__(self, stops: int, tell: Callable[..., None]) -> None:
        self._stops = stops
        self._tell = tell

    def started(self, event: monitoring.CommandStartedEvent) -> None:
        """Stop here, or go on."""
        if event.command_name == "commitTransaction" and self._stops and not random.randrange(self._stops):
            self._tell("stops")
            # To this thread: sent to the process, it would come after the commit had left.
            signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)

    def succeeded(self, event: monitoring.CommandSucceededEvent) -> None:
        """Go on."""

    def failed(self, event: monitoring.CommandFailedEvent) -> None:
        """Go on."""


class _Child:
    """The process's own end of the connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def tell(self, *what: object) -> None:
        self._connection.send_bytes(json.dumps(what).encode())

    @property
    def is_wanted(self) -> bool:
        return not self._connection.poll()

    def run(self, place: Place, work: Callable[[Database, _Child, Place], Coroutine[Any, Any, None]]) -> None:
        monitoring.register(_Stopper(place.stops, self.tell))
        asyncio.run(self._run(place, work))

    async def _run(
        self, place: Place, work: Callable[[Database, _Child, Place], Coroutine[Any, Any, None]]
    ) -> None:
        settings = Settings(mongodb_uri=place.uri, mongodb_database=place.name)
        async with open_database(settings, Indexes.LEAVE, 5.0, may_be_away=True) as database:
            await work(database, self, place)


def write(place: Place, connection: Connection) -> None:
    """Store blocks of clicks: tell the link of each before, and once its storing was acknowledged."""
    _Child(connection).run(place, _write)


def order(place: Place, connection: Connection) -> None:
    """Be a sequencer as the service has it."""
    _Child(connection).run(place, _order)


def order_without_lease(place: Place, connection: Connection) -> None:
    """Be a sequencer that asks nobody."""
    _Child(connection).run(place, _order_without_lease)


def read(place: Place, connection: Connection) -> None:
    """Read all feeds from their beginning and never go back: tell each page. At the end, read the rest."""
    _Child(connection).run(place, _read)


async def _write(database: Database, child: _Child, place: Place) -> None:
    async def go_on() -> None:
        while child.is_wanted:
            org_ids = random.sample(place.org_ids, random.choice((1, 1, 2)))
            await _store(database, child, org_ids, random.randint(1, _MOST_CLICKS))
            await asyncio.sleep(random.random() * _LONGEST_PAUSE)

    await asyncio.gather(*(go_on() for _ in range(_TASKS)))


async def _store(database: Database, child: _Child, org_ids: Sequence[OrgId], clicks: int) -> None:
    """Store clicks of these organizations in a transaction, as a shipper does, until that is acknowledged."""
    link = LinkId(str(uuid.uuid4()))
    made = [click(org_id, link, NOW + timedelta(seconds=n)) for org_id in org_ids for n in range(clicks)]
    blocks, log = blocks_of(made), uuid.uuid4().hex
    child.tell("begins", link, org_ids, clicks, time.monotonic())
    with contextlib.suppress(AlreadyShipped):
        await _until_answered(lambda: ship_blocks(database, log, LogHead(), 1, blocks))
    child.tell("stored", link, time.monotonic())


async def _order(database: Database, child: _Child, place: Place) -> None:
    sequencer = Sequencer(database)
    await sequencer.start()
    while child.is_wanted:  # noqa: ASYNC110 - another process says so
        await asyncio.sleep(_AGAIN)
    await sequencer.stop()


async def _order_without_lease(database: Database, child: _Child, place: Place) -> None:
    while child.is_wanted:
        await _until_answered(lambda: place_waiting(database, random.choice((1, 7, 1_000))))
        await asyncio.sleep(random.random() * _AGAIN)


async def _read(database: Database, child: _Child, place: Place) -> None:
    await asyncio.gather(*(_read_one(database, child, org_id) for org_id in place.org_ids))


async def _read_one(database: Database, child: _Child, org_id: OrgId) -> None:
    cursor = START
    while True:
        is_last = not child.is_wanted
        page = await _until_answered(partial(_page, database, org_id, cursor))
        cursor = page.next_cursor
        events = [
            [event.data["link_id"], round((event.at - NOW).total_seconds()), event.id]
            for event in page.events
        ]
        child.tell("reads", org_id, events)
        if is_last and not page.has_more:
            return
        if not page.events:
            await asyncio.sleep(_AGAIN)


def _page(database: Database, org_id: OrgId, cursor: Any) -> Awaitable[FeedPage]:
    return read_feed(database, org_id, cursor, url_form=FORM, limit=random.randint(1, _MOST_EVENTS))


async def _until_answered(work: Callable[[], Awaitable[Any]]) -> Any:
    """What it gives, once MongoDB answers."""
    while True:
        try:
            return await work()
        except StorageError as error:
            if not is_unreachable(error):
                raise
            await asyncio.sleep(_AGAIN)
