"""The sequencer: gives waiting entries their places, and so makes the one order of each feed.

One process does it at a time, by a lease. The lease only saves work: two sequencers at once conflict on the
head of the organization's feed, and MongoDB lets one of them through (docs/decisions/feed.md).
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable
from datetime import datetime, timedelta

from bson import Binary, Timestamp
from bson.binary import UUID_SUBTYPE
from pymongo import UpdateOne

from backend.concurrency.background_task import BackgroundTask
from backend.domain.ids import OrgId
from backend.storage.driver.blocking import BlockingDatabase, BlockingSession, in_thread, transact_once
from backend.storage.driver.mongo import Database, Document, StorageError, is_conflict
from backend.storage.outbox import entries, heads
from backend.storage.processes.leases import end_lease, find_former_holder, take_lease

LEASE = "feed"
_LEASE_DURATION = timedelta(seconds=3)
_RENEW_INTERVAL = 1.0
# Seconds between two looks for waiting entries: while they come, and once none has come for so many seconds.
# Whoever asks for figures gives waiting entries their places (`place_all`), and waits for no look.
POLL_INTERVAL = 0.05
_IDLE_POLL_INTERVALS = ((10.0, 0.5), (1.0, 0.15))
# Until `place_all` looks whether another sequencer has placed what it waits for.
_PLACED_BY_OTHERS_INTERVAL = 0.01
# The most entries that get their places in one transaction.
MOST_PER_TRANSACTION = 1_000
_WAITING: Document = {"waits": True}
_OLDEST_FIRST = [("stamp", 1)]  # also names the index; without it MongoDB reads the whole collection


class _OtherSequencerActive(Exception):
    """Another sequencer moves the head of the same feed."""


class Sequencer:
    """Gives entries their places in the background, in one process of all at a time.

    All its transactions belong to one session, whose id is the lease's holder. So the next holder can end a
    transaction that a killed or suspended process has left open, which MongoDB would keep for a minute.
    """

    def __init__(self, database: Database, on_placed: Callable[[], object] = lambda: None) -> None:
        self._database = database
        self._on_placed = on_placed
        self._batch_size = MOST_PER_TRANSACTION
        self._task = BackgroundTask("giving events their places in the feed", self._go_on)

    async def start(self) -> None:
        """Start to give waiting entries their places, whenever no other process does."""
        await self._task.start()

    async def stop(self) -> None:
        """Stop; another process goes on at once."""
        await self._task.stop()

    async def _go_on(self) -> None:
        session = await in_thread(self._database, lambda database: database.client.start_session())
        holder = bytes(session.session_id["id"]).hex()
        try:
            while True:
                if await take_lease(self._database, LEASE, holder, _LEASE_DURATION):
                    await self._end_former(holder)
                    await self._place_while_held(session, holder)
                else:
                    await asyncio.sleep(_RENEW_INTERVAL)
        finally:
            await end_lease(self._database, LEASE, holder)

    async def _place_while_held(self, session: BlockingSession, holder: str) -> None:
        """Give waiting entries their places until another process has the lease."""
        renewed = last_placed = time.monotonic()
        while True:
            placed = await self._place(session)
            now = time.monotonic()
            if placed:
                last_placed = now
                self._on_placed()
            if placed < self._batch_size:
                await asyncio.sleep(_poll_interval(now - last_placed))
            if now > renewed + _RENEW_INTERVAL:
                renewed = now
                if not await take_lease(self._database, LEASE, holder, _LEASE_DURATION):
                    return

    async def _place(self, session: BlockingSession) -> int:
        """Give a batch of entries their places. Batches shrink on errors: transactions have limited time."""
        batch_size = self._batch_size
        try:
            placed = await in_thread(self._database, lambda database: _place(database, session, batch_size))
        except StorageError:
            self._batch_size = max(1, batch_size // 2)
            raise
        if placed == batch_size:
            self._batch_size = min(2 * batch_size, MOST_PER_TRANSACTION)
        return placed

    async def _end_former(self, holder: str) -> None:
        """End the open transactions of the former holder, whose lease has run out."""
        former = await find_former_holder(self._database, LEASE)
        if former and former != holder:
            session = {"id": Binary(bytes.fromhex(former), UUID_SUBTYPE)}
            await self._database.client.admin.command("killSessions", [session])


def _poll_interval(idle_seconds: float) -> float:
    """The seconds until the next look, where the last entry came so many seconds ago."""
    slower = (interval for since, interval in _IDLE_POLL_INTERVALS if idle_seconds >= since)
    return next(slower, POLL_INTERVAL)


async def place_waiting(database: Database, batch_size: int = MOST_PER_TRANSACTION) -> int:
    """Give the first waiting entries their places. Returns how many got one.

    This is 0 if another sequencer does the same. Raises StorageError.
    """

    def work(database: BlockingDatabase) -> int:
        with database.client.start_session() as session:
            return _place(database, session, batch_size)

    return await in_thread(database, work)


async def place_all(database: Database, org_id: OrgId) -> None:
    """Return once all entries that the organization's feed has now have their places.

    So a reader of the newest entries does not wait for the sequencer's next look. Raises StorageError.
    """
    waiting = _WAITING | {"org_id": org_id}
    last = await database[entries.NAME].find_one(waiting, {"stamp": 1}, sort=[("stamp", -1)])
    until_now: Document = waiting | {"stamp": {"$lte": last["stamp"]}} if last else waiting
    while last and await database[entries.NAME].find_one(until_now, {"_id": 1}, sort=_OLDEST_FIRST):
        if not await place_waiting(database):
            await asyncio.sleep(_PLACED_BY_OTHERS_INTERVAL)


async def waits_since(database: Database, org_id: OrgId) -> datetime | None:
    """When the first entry came that waits for its place in the organization's feed; None if none waits."""
    waiting = _WAITING | {"org_id": org_id}
    first = await database[entries.NAME].find_one(waiting, {"stamp": 1}, sort=_OLDEST_FIRST)
    return first["stamp"].as_datetime() if first else None


def _place(database: BlockingDatabase, session: BlockingSession, batch_size: int) -> int:
    # Nearly always no entry waits, and a transaction would be five times the work.
    if database[entries.NAME].find_one(_WAITING, {"_id": 1}, sort=_OLDEST_FIRST) is None:
        return 0
    try:
        return transact_once(session, lambda session: _place_in(database, session, batch_size))
    except _OtherSequencerActive:
        return 0


def _place_in(database: BlockingDatabase, session: BlockingSession, batch_size: int) -> int:
    unplaced = database[entries.NAME].find(_WAITING, {"org_id": 1, "stamp": 1}, session=session)
    waiting: defaultdict[OrgId, list[Document]] = defaultdict(list)
    for entry in unplaced.sort(_OLDEST_FIRST).limit(batch_size):
        waiting[entry["org_id"]].append(entry)
    if not waiting:
        return 0
    stored = database[heads.NAME].find({"_id": {"$in": list(waiting)}}, session=session)
    before = {OrgId(head["_id"]): head for head in stored}
    placed, moved = [], []
    for org_id, org_entries in waiting.items():
        head = before.get(org_id, {})
        place, stamp = int(head.get("place", 0)), head.get("stamp", Timestamp(0, 1))
        for entry in org_entries:
            place, stamp = place + 1, max(stamp, entry["stamp"])
            # By its id alone MongoDB finds it without planning: that halves what a transaction costs.
            placed.append(
                UpdateOne(
                    {"_id": entry["_id"]}, {"$set": {"place": place, "stamp": stamp}, "$unset": {"waits": ""}}
                )
            )
        moved.append(UpdateOne({"_id": org_id}, {"$set": {"place": place, "stamp": stamp}}, upsert=True))
    try:  # first, since this write conflicts with another sequencer's
        database[heads.NAME].bulk_write(moved, session=session, ordered=False)
    except StorageError as error:
        if is_conflict(error):
            raise _OtherSequencerActive from error
        raise
    database[entries.NAME].bulk_write(placed, session=session, ordered=False)
    return len(placed)
