"""Takes clicks of links with `max_clicks`. All processes share the clicks that a link has left."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence

from backend.domain.ids import LinkId
from backend.domain.links.links import Link
from backend.storage.driver.deadlines import deadline
from backend.storage.driver.mongo import Database, StorageError
from backend.storage.links.taken_clicks import take_clicks
from backend.storage.links.writing.service_changes import mark_used_up
from backend.system.clock import Clock

# Seconds that a visitor waits for a slow database. Not less: a click that is given up may be lost.
_TAKE_SECONDS = 5.0
_Waiting = tuple[Link, "asyncio.Future[bool]"]


class ClickTakes:
    """Takes clicks, those of visitors who come to a link at the same time together.

    While one write for a link is under way, new visitors wait for the next one. So a busy link costs no more
    writes than the database can do for one document.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._waiting: dict[LinkId, list[_Waiting]] = {}
        self._writers: dict[LinkId, asyncio.Task[None]] = {}

    async def take(self, link: Link) -> bool:
        """Take a click of a link with `max_clicks`. Returns False if none is left.

        Raises StorageError if the database can't be asked. If it does not answer in time, a click may be
        taken that no visitor got, but the link never lets more visitors through than it allows.
        """
        taken: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(link.id, []).append((link, taken))
        if link.id not in self._writers:
            self._writers[link.id] = asyncio.create_task(self._take_waiting(link.id))
        return await taken

    async def _take_waiting(self, link_id: LinkId) -> None:
        try:
            while waiting := self._waiting.pop(link_id, None):
                visitors = [visitor for visitor in waiting if not visitor[1].done()]  # others have given up
                if visitors:
                    await self._take_for(visitors)
        finally:
            del self._writers[link_id]

    async def _take_for(self, visitors: Sequence[_Waiting]) -> None:
        """Take a click for each of these visitors, or for as many as there are left."""
        link, _ = visitors[-1]  # as it was read last
        most = link.limits.max_clicks or 0
        try:
            with deadline(_TAKE_SECONDS):
                got = await take_clicks(self._database, link.org_id, link.id, len(visitors), most)
        except Exception as error:
            for _, taken in visitors:
                if not taken.done():
                    taken.set_exception(error)
            return
        for number, (_, taken) in enumerate(visitors):
            if not taken.done():
                taken.set_result(number < got.clicks)
        if not got.remaining:
            # So that lists show it and no process asks any more. If it fails, the next visitor does it.
            with contextlib.suppress(StorageError), deadline(_TAKE_SECONDS):
                await mark_used_up(self._database, link.id, most, self._clock())
