"""The sequencer: gives waiting entries their places, and so makes the one order of each feed.

One process does it at a time, by a lease. The lease only saves work: two sequencers at once conflict on the
head of the organization's feed, and MongoDB lets one of them through (docs/decisions/feed.md).

A transaction places entries of many organizations. Where that fails, each organization's are placed by
themselves, so that nothing of one feed stops another.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from math import inf

from bson import Binary, Timestamp
from bson.binary import UUID_SUBTYPE
from pymongo import UpdateOne

from backend.concurrency.background_task import BackgroundTask
from backend.domain.ids import OrgId
from backend.storage.driver.blocking import BlockingDatabase, BlockingSession, in_thread, transact_once
from backend.storage.driver.mongo import (
    TRANSACTION_SECONDS,
    Database,
    Document,
    StorageError,
    asks_for_another_try,
    close_in_background,
    is_away,
    is_conflict,
    is_unreachable,
)
from backend.storage.outbox import entries, heads
from backend.storage.processes.items import Items
from backend.storage.processes.leases import (
    drop_lease,
    end_lease,
    ended_leases,
    find_former_holder,
    take_lease,
)
from backend.storage.processes.work import Work
from backend.storage.schema.work_item import item_of_organization

LEASE = "feed"
_LEASE_DURATION = timedelta(seconds=3)
_RENEW_INTERVAL = 1.0
# Seconds between two looks for waiting entries: while they come, and once none has come for so many seconds.
# Whoever asks for figures gives waiting entries their places (`place_all`), and waits for no look.
POLL_INTERVAL = 0.05
_IDLE_POLL_INTERVALS = ((10.0, 0.5), (1.0, 0.15))
# Until `place_all` looks whether another sequencer has placed what it waits for.
_PLACED_BY_OTHERS_INTERVAL = 0.01
# The leases of those who call it begin like this. They are for longer than a transaction takes.
_ASKING = "feed/"
_ASKING_DURATION = timedelta(seconds=TRANSACTION_SECONDS + 2 * _RENEW_INTERVAL)
# Until entries of an organization are tried again, after they could not be placed.
_LONGEST_PAUSE = timedelta(minutes=1)
# The most entries that get their places in one transaction.
MOST_PER_TRANSACTION = 1_000
_WAITING: Document = {"waits": True}
_logger = logging.getLogger(__name__)
_OLDEST_FIRST = [("stamp", 1)]  # also names the index; without it MongoDB reads the whole collection


class _OtherSequencerActive(Exception):
    """Another sequencer moves the head of the same feed, or has ended this one's transaction; or somebody
    else writes these entries, such as an erasure."""


class Sequencer:
    """Gives entries their places in the background, in one process of all at a time.

    All its transactions belong to one session, whose id is the lease's holder. So the next holder can end a
    transaction that a killed or suspended process has left open, which MongoDB would keep for a minute.
    """

    def __init__(self, database: Database, on_placed: Callable[[], object] = lambda: None) -> None:
        self._database = database
        self._on_placed = on_placed
        self._batch_size = MOST_PER_TRANSACTION
        self._items = Items(database, Work.FEED, _LONGEST_PAUSE)
        self._left_out: Sequence[str] = ()  # organizations whose entries could not be placed
        self._has_lease = False
        self._task = BackgroundTask(Work.FEED, self._go_on)

    async def start(self) -> None:
        """Start to give waiting entries their places, whenever no other process does."""
        await self._task.start()

    async def stop(self) -> None:
        """Stop; another process goes on at once."""
        await self._task.stop()

    async def _go_on(self) -> None:
        session = await _new_session(self._database)
        holder = _id_of(session)
        try:
            while True:
                if await take_lease(self._database, LEASE, holder, _LEASE_DURATION):
                    async with self._kept_lease(holder):
                        await self._end_former(holder)
                        await self._look_after_failing(session)
                        await self._place_while_held(session)
                else:
                    await asyncio.sleep(_RENEW_INTERVAL)
        finally:
            await end_lease(self._database, LEASE, holder)

    @asynccontextmanager
    async def _kept_lease(self, holder: str) -> AsyncIterator[None]:
        """The lease is renewed until the block ends, which it is to do once the lease is lost.

        However long it takes to place entries: whoever takes the lease over ends what is under way here, and
        would be ended in the middle in its turn.
        """
        self._has_lease = True
        renewing = asyncio.create_task(self._renew(holder))
        try:
            yield
        finally:
            renewing.cancel()
            await asyncio.wait([renewing])

    async def _renew(self, holder: str) -> None:
        """Renew the lease until that fails."""
        try:
            while self._has_lease:
                await asyncio.sleep(_RENEW_INTERVAL)
                self._has_lease = await take_lease(self._database, LEASE, holder, _LEASE_DURATION)
        except StorageError as error:
            _logger.warning("The lease of the feeds can't be renewed: %s", error)
        finally:
            self._has_lease = False

    async def _place_while_held(self, session: BlockingSession) -> None:
        """Give waiting entries their places until another process has the lease."""
        looked = last_placed = time.monotonic()
        while self._has_lease:
            placed = await self._place(session)
            now = time.monotonic()
            if placed:
                last_placed = now
                self._on_placed()
            if placed < self._batch_size:
                await asyncio.sleep(_poll_interval(now - last_placed))
            if now > looked + _RENEW_INTERVAL:
                looked = now
                if self._left_out:
                    await self._look_after_failing(session)

    async def _place(self, session: BlockingSession) -> int:
        """Give a batch of entries their places. Batches shrink on errors: transactions have limited time."""
        batch_size = self._batch_size
        others: Document = {"org_id": {"$nin": self._left_out}} if self._left_out else {}
        try:
            placed = await _placed(self._database, session, batch_size, others)
        except Exception as error:
            self._batch_size = max(1, batch_size // 2)
            if is_unreachable(error):
                raise
            return await self._place_each(session)
        if placed == batch_size:
            self._batch_size = min(2 * batch_size, MOST_PER_TRANSACTION)
        return placed

    async def _place_each(self, session: BlockingSession) -> int:
        """Give the first waiting entries of each organization their places, each by itself."""
        placed = 0

        async def place(org_id: OrgId) -> None:
            nonlocal placed
            try:
                placed += await _placed(self._database, session, self._batch_size, {"org_id": org_id})
            except _OtherSequencerActive:  # or one that was killed, or stopped
                await _end_left_behind(self._database)

        failing = await self._items.failing()
        tried = {org_id for org_id, waits in failing.items() if waits}
        org_ids = {*failing} - tried
        while org_ids := org_ids or await self._next_organizations(tried):
            items = [item_of_organization(OrgId(org_id)) for org_id in sorted(org_ids)]
            await self._items.each(items, place, goes_on=lambda: self._has_lease)
            if not self._has_lease:
                return placed
            tried |= org_ids
            org_ids = set()
        self._left_out = list(await self._items.failing())
        return placed

    async def _next_organizations(self, but: Collection[str]) -> set[str]:
        """Whose entries would get the next places, without those of these organizations."""
        others = _WAITING | {"org_id": {"$nin": list(but)}}
        # A `distinct` would read the whole collection, at each conflict with whoever places a feed alone.
        found = self._database[entries.NAME].find(others, {"org_id": 1}).sort(_OLDEST_FIRST)
        return {entry["org_id"] async for entry in found.limit(MOST_PER_TRANSACTION)}

    async def _look_after_failing(self, session: BlockingSession) -> None:
        """Try organizations again whose pause is over, each by itself; the others stay left out."""
        failing = await self._items.failing()
        self._left_out = list(failing)
        if not all(failing.values()):
            await self._place_each(session)

    async def _end_former(self, holder: str) -> None:
        """End the open transactions of the former holder, whose lease has run out."""
        former = await find_former_holder(self._database, LEASE)
        if former and former != holder:
            await _end_session(self._database, former)


def _poll_interval(idle_seconds: float) -> float:
    """The seconds until the next look, where the last entry came so many seconds ago."""
    slower = (interval for since, interval in _IDLE_POLL_INTERVALS if idle_seconds >= since)
    return next(slower, POLL_INTERVAL)


async def place_waiting(database: Database, batch_size: int = MOST_PER_TRANSACTION) -> int:
    """Give the first waiting entries their places. Returns how many got one.

    This is 0 if another sequencer does the same. Raises StorageError.
    """
    session = await _new_session(database)
    try:
        return await _placed(database, session, batch_size)
    except _OtherSequencerActive:
        return 0
    finally:
        close_in_background(lambda: in_thread(database, lambda _: session.end_session()))


async def place_all(database: Database, org_id: OrgId) -> None:
    """Return once all entries that the organization's feed has now have their places.

    So a reader of the newest entries does not wait for the sequencer's next look. It places this feed alone,
    and nothing of another can stop it. Raises StorageError.
    """
    waiting = _WAITING | {"org_id": org_id}
    last = await database[entries.NAME].find_one(waiting, {"stamp": 1}, sort=[("stamp", -1)])
    if last is None:
        return
    until_now: Document = waiting | {"stamp": {"$lte": last["stamp"]}}
    async with _asking(database) as asking:
        while await database[entries.NAME].find_one(until_now, {"_id": 1}, sort=_OLDEST_FIRST):
            await asking.renew()
            try:
                await _placed(database, asking.session, MOST_PER_TRANSACTION, {"org_id": org_id})
            except _OtherSequencerActive:
                await _end_left_behind(database)
                await asyncio.sleep(_PLACED_BY_OTHERS_INTERVAL)


@dataclass(slots=True)
class _Asking:
    """A session for whoever places entries without the sequencer's lease.

    It has a lease of its own, which tells others from when on they may end its transaction: whoever has it
    may be killed or suspended with it.
    """

    database: Database
    session: BlockingSession
    renewed: float = -inf

    @property
    def lease(self) -> str:
        return f"{_ASKING}{_id_of(self.session)}"

    async def renew(self) -> None:
        """Have the lease for longer than a transaction takes. To be called before each."""
        if (now := time.monotonic()) > self.renewed + _RENEW_INTERVAL:
            self.renewed = now
            await take_lease(self.database, self.lease, _id_of(self.session), _ASKING_DURATION)


@asynccontextmanager
async def _asking(database: Database) -> AsyncIterator[_Asking]:
    asking = _Asking(database, await _new_session(database))
    try:
        yield asking
    finally:
        close_in_background(partial(drop_lease, database, asking.lease))
        close_in_background(lambda: in_thread(database, lambda _: asking.session.end_session()))


async def _end_left_behind(database: Database) -> None:
    """End the transactions of those who asked and were killed or suspended: they hold heads of feeds."""
    for name in await ended_leases(database, _ASKING):
        await _end_session(database, name.removeprefix(_ASKING))
        await drop_lease(database, name)


async def _new_session(database: Database) -> BlockingSession:
    return await in_thread(database, lambda blocking: blocking.client.start_session())


def _id_of(session: BlockingSession) -> str:
    return bytes(session.session_id["id"]).hex()


async def _end_session(database: Database, holder: str) -> None:
    """End the open transaction of the session with this id."""
    session = {"id": Binary(bytes.fromhex(holder), UUID_SUBTYPE)}
    await database.client.admin.command("killSessions", [session])


async def waits_since(database: Database, org_id: OrgId) -> datetime | None:
    """When the first entry came that waits for its place in the organization's feed; None if none waits."""
    waiting = _WAITING | {"org_id": org_id}
    first = await database[entries.NAME].find_one(waiting, {"stamp": 1}, sort=_OLDEST_FIRST)
    return first["stamp"].as_datetime() if first else None


async def _placed(
    database: Database, session: BlockingSession, batch_size: int, of: Document | None = None
) -> int:
    """Give the first entries that wait, and that this query finds, their places. Returns how many got one.

    Raises _OtherSequencerActive and StorageError.
    """
    waiting = _WAITING | (of or {})

    def work(database: BlockingDatabase) -> int:
        # Nearly always no entry waits, and a transaction would be five times the work.
        if database[entries.NAME].find_one(waiting, {"_id": 1}, sort=_OLDEST_FIRST) is None:
            return 0
        return transact_once(session, lambda session: _place_in(database, session, waiting, batch_size))

    try:
        return await in_thread(database, work)
    except StorageError as error:
        if asks_for_another_try(error) and not is_away(error):
            raise _OtherSequencerActive from error
        raise


def _place_in(database: BlockingDatabase, session: BlockingSession, of: Document, batch_size: int) -> int:
    unplaced = database[entries.NAME].find(of, {"org_id": 1, "stamp": 1}, session=session)
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
