"""Takes clicks of links with `max_clicks`. All processes share the clicks that a link has left."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from backend.concurrency.batches import Batches
from backend.concurrency.counted_log import CountedLog
from backend.domain.ids import LinkId
from backend.domain.links.links import Link
from backend.storage.driver.deadlines import new_deadline
from backend.storage.driver.mongo import Database
from backend.storage.links.taken_clicks import take_clicks
from backend.storage.links.writing.service_changes import mark_used_up
from backend.system.clock import Clock

# Seconds that a visitor waits for a slow database. Not less: a click that is given up may be lost.
_TAKE_SECONDS = 5.0
_log = CountedLog(logging.getLogger(__name__))


class ClickTakes:
    """Takes clicks, those of visitors who come to a link at the same time together.

    While one write for a link is under way, new visitors wait for the next one. So a busy link costs no more
    writes than the database can do for one document.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._visitors: Batches[LinkId, Link, bool] = Batches(self._take_for)
        self._marking: dict[LinkId, asyncio.Task[None]] = {}

    async def take(self, link: Link) -> bool:
        """Take a click of a link with `max_clicks`. Returns False if none is left.

        Raises StorageError if the database can't be asked. If it does not answer in time, a click may be
        taken that no visitor got, but the link never lets more visitors through than it allows.
        """
        return await self._visitors.add(link.id, link)

    async def _take_for(self, _: LinkId, visitors: Sequence[Link]) -> list[bool]:
        """Take a click for each of these visitors of a link, or for as many as there are left."""
        link = visitors[-1]  # as it was read last
        with new_deadline(_TAKE_SECONDS):  # it is that of all these visitors
            got = await take_clicks(
                self._database, link.org_id, link.id, len(visitors), link.limits.max_clicks or 0
            )
        if not got.remaining and link.id not in self._marking:
            self._marking[link.id] = asyncio.create_task(self._mark_used_up(link))
        return [number < got.clicks for number in range(len(visitors))]

    async def _mark_used_up(self, link: Link) -> None:
        """Let lists show it, so that no process asks any more. If it fails, the next visitor does it."""
        try:
            with new_deadline(_TAKE_SECONDS):
                await mark_used_up(
                    self._database, link.org_id, link.id, link.limits.max_clicks or 0, self._clock()
                )
        except Exception as error:
            _log.warning(f"A link that is used up is not marked as such: {type(error).__name__}")
        finally:
            del self._marking[link.id]
