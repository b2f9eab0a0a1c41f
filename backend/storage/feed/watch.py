"""Waiting for news in feeds: one look at a time for all who wait in this process."""

from __future__ import annotations

import asyncio
from collections import Counter

from backend.concurrency.background_task import BackgroundTask
from backend.domain.feed.cursor import Cursor
from backend.domain.ids import OrgId
from backend.storage.feed.heads import find_heads
from backend.storage.mongo import Database

# Seconds between two looks while somebody waits.
_BETWEEN = 0.1


class FeedWatch:
    """Knows how far the feeds are for which somebody waits. Nothing is asked while nobody does."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: Counter[OrgId] = Counter()
        self._heads: dict[OrgId, int] = {}
        self._wanted = asyncio.Event()
        self._looked = asyncio.Condition()
        self._task = BackgroundTask("looking for news in feeds", self._go_on)

    def start(self) -> None:
        """Start to look, whenever somebody waits."""
        self._task.start()

    async def stop(self) -> None:
        """Stop to look."""
        await self._task.stop()

    async def wait(self, org_id: OrgId, cursor: Cursor, seconds: float) -> bool:
        """Wait until the organization's feed may go on behind the cursor, for so long at most.

        Returns whether it does.
        """
        self._waiting[org_id] += 1
        self._wanted.set()
        try:
            async with asyncio.timeout(seconds), self._looked:
                await self._looked.wait_for(lambda: self._heads.get(org_id, 0) >= cursor.place)
        except TimeoutError:
            return False
        finally:
            self._waiting[org_id] -= 1
            if not self._waiting[org_id]:
                del self._waiting[org_id]
                self._heads.pop(org_id, None)
        return True

    async def _go_on(self) -> None:
        while True:
            await self._wanted.wait()
            if not self._waiting:
                self._wanted.clear()
                continue
            found = await find_heads(self._database, list(self._waiting))
            self._heads = {org_id: place for org_id, place in found.items() if org_id in self._waiting}
            async with self._looked:
                self._looked.notify_all()
            await asyncio.sleep(_BETWEEN)
