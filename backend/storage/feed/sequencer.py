"""The sequencer: gives the entries that wait their places, and so makes the one order of each feed.

One process does it at a time, by a lease. The lease only saves work: two at once conflict on the head of the
organization's feed, and MongoDB lets one of them through (docs/decisions/feed.md).
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import defaultdict
from collections.abc import Callable
from datetime import timedelta

from pymongo import UpdateOne
from pymongo.errors import BulkWriteError

from backend.concurrency.background_task import BackgroundTask
from backend.domain.ids import OrgId
from backend.storage.blocking import BlockingDatabase, BlockingSession, in_thread, transact
from backend.storage.feed import entries, heads
from backend.storage.leases import end_lease, take_lease
from backend.storage.mongo import Database, Document, StorageError, is_duplicate, is_unreachable

LEASE = "feed"
_LEASE = timedelta(seconds=3)
_RENEW_EVERY = 1.0
# Seconds between two looks at what waits.
_BETWEEN = 0.05
# Entries that get their places in one transaction.
_AT_ONCE = 1_000


class Sequencer:
    """Places entries in the background, in one process of all at a time."""

    def __init__(self, database: Database, on_placed: Callable[[], object] = lambda: None) -> None:
        self._database = database
        self._on_placed = on_placed
        self._id = uuid.uuid4().hex
        self._task = BackgroundTask("giving events their places in the feed", self._go_on)

    def start(self) -> None:
        """Start to place what waits, whenever no other process does."""
        self._task.start()

    async def stop(self) -> None:
        """Stop; another process goes on at once."""
        await self._task.stop()
        try:
            await end_lease(self._database, LEASE, self._id)
        except StorageError as error:
            if not is_unreachable(error):
                raise

    async def _go_on(self) -> None:
        while True:
            began = time.monotonic()
            if not await take_lease(self._database, LEASE, self._id, _LEASE):
                await asyncio.sleep(_RENEW_EVERY)
                continue
            while time.monotonic() < began + _RENEW_EVERY:
                placed = await place_waiting(self._database)
                if placed:
                    self._on_placed()
                if placed < _AT_ONCE:
                    await asyncio.sleep(_BETWEEN)


async def place_waiting(database: Database) -> int:
    """Give the first entries that wait their places. Returns how many got one."""
    try:
        return await in_thread(database, _place)
    except BulkWriteError as error:
        if is_duplicate(error):  # two sequencers gave an organization its first place
            return 0
        raise


def _place(database: BlockingDatabase) -> int:
    # Nearly always nothing waits, and a transaction would be five times the work.
    if database[entries.NAME].find_one({"waits": True}, {"_id": 1}) is None:
        return 0
    return transact(database, lambda session: _place_in(database, session))


def _place_in(database: BlockingDatabase, session: BlockingSession) -> int:
    found = database[entries.NAME].find({"waits": True}, {"org_id": 1}, session=session)
    waiting = list(found.sort("stamp", 1).limit(_AT_ONCE))
    by_org: defaultdict[OrgId, list[Document]] = defaultdict(list)
    for entry in waiting:
        by_org[entry["org_id"]].append(entry)
    if not waiting:
        return 0
    before = {
        OrgId(each["_id"]): int(each["place"])
        for each in database[heads.NAME].find({"_id": {"$in": list(by_org)}}, session=session)
    }
    placed, moved = [], []
    for org_id, own in by_org.items():
        first = before.get(org_id, 0) + 1
        placed += [
            UpdateOne(
                {"_id": entry["_id"], "org_id": org_id}, {"$set": {"place": place}, "$unset": {"waits": ""}}
            )
            for place, entry in enumerate(own, first)
        ]
        moved.append(UpdateOne({"_id": org_id}, {"$set": {"place": first + len(own) - 1}}, upsert=True))
    # Heads come first: there, two sequencers conflict.
    database[heads.NAME].bulk_write(moved, session=session, ordered=False)
    database[entries.NAME].bulk_write(placed, session=session, ordered=False)
    return len(waiting)
