"""Waiting for new entries of feeds: one query at a time for all readers that wait in this process."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from backend.concurrency.background_task import BackgroundTask
from backend.domain.feed.cursor import Cursor
from backend.domain.ids import OrgId
from backend.storage.driver.mongo import Database
from backend.storage.outbox.heads import find_readable_heads, is_elsewhere

# The most readers of one organization that may follow its feed in a process. Each holds a connection.
MOST_READERS = 100
# Seconds between two looks while somebody waits.
_POLL_INTERVAL = 0.1
# The longest that a wait lasts that begins while the service stops, so that readers don't ask in a tight
# loop.
_WAIT_WHILE_STOPPING = 0.5


class FeedWatch:
    """Knows the last places of the feeds for which readers wait. It sends no queries while nobody waits."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._readers: Counter[OrgId] = Counter()
        self._waiting: Counter[OrgId] = Counter()
        self._heads: dict[OrgId, int] = {}
        self._wanted = asyncio.Event()
        self._looked = asyncio.Condition()
        self._task = BackgroundTask("looking for news in feeds", self._go_on)
        self.is_ending = False

    async def start(self) -> None:
        """Start to look, whenever somebody waits."""
        await self._task.start()

    async def stop(self) -> None:
        """Stop to look."""
        await self._task.stop()

    async def end_waits(self) -> None:
        """End all waits, since the service stops. `is_ending` is True from now on."""
        self.is_ending = True
        async with self._looked:
            self._looked.notify_all()

    def has_room(self, org_id: OrgId) -> bool:
        """Whether one more reader may follow the organization's feed."""
        return self._readers[org_id] < MOST_READERS

    @contextmanager
    def reader(self, org_id: OrgId) -> Iterator[None]:
        """Count a reader of the organization's feed for as long as the block runs."""
        self._readers[org_id] += 1
        try:
            yield
        finally:
            _take_one(self._readers, org_id)

    async def wait(self, org_id: OrgId, cursor: Cursor, seconds: float) -> bool:
        """Wait until the organization's feed has entries after the cursor, for at most `seconds`.

        Returns whether it may have some. A feed whose end is before the cursor, since MongoDB was put back
        from a backup, ends the wait, too.
        """
        if self.is_ending:
            await asyncio.sleep(min(_WAIT_WHILE_STOPPING, seconds))
            return False
        self._waiting[org_id] += 1
        self._wanted.set()
        try:
            async with asyncio.timeout(seconds), self._looked:
                await self._looked.wait_for(lambda: self.is_ending or self._goes_on(org_id, cursor))
        except TimeoutError:
            return False
        finally:
            if not _take_one(self._waiting, org_id):
                self._heads.pop(org_id, None)
        return not self.is_ending

    def _goes_on(self, org_id: OrgId, cursor: Cursor) -> bool:
        head = self._heads.get(org_id)
        return head is not None and is_elsewhere(head, cursor)

    async def _go_on(self) -> None:
        while True:
            await self._wanted.wait()
            if not self._waiting:
                self._wanted.clear()
                continue
            places = await find_readable_heads(self._database, self._waiting)
            self._heads = {org_id: place for org_id, place in places.items() if org_id in self._waiting}
            async with self._looked:
                self._looked.notify_all()
            await asyncio.sleep(_POLL_INTERVAL)


def _take_one(counts: Counter[OrgId], org_id: OrgId) -> int:
    """Count one less for the organization. Returns the number that is left."""
    counts[org_id] -= 1
    return counts[org_id] or counts.pop(org_id) or 0
