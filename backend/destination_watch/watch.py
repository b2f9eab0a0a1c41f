"""The slow look in the background of a service."""

from __future__ import annotations

import asyncio
import uuid
from datetime import timedelta

from backend.concurrency.background_task import BackgroundTask
from backend.destination_watch.look import look_at_next
from backend.storage.driver.mongo import Database, StorageError, is_unreachable
from backend.storage.links.destinations.rounds import begin_again, end_turn, take_turn
from backend.system.clock import Clock
from backend.web_client.destination_check import DestinationCheck
from backend.web_client.page_reader import PageReader

NAME = "service"
_IDLE = 30.0  # seconds until it looks again whether there is something to do
_BETWEEN = 1.0


class DestinationWatch:
    """Looks at all links once in `hours`, in one process of all at a time; with 0 hours, never."""

    def __init__(self, database: Database, reader: PageReader, clock: Clock, hours: float) -> None:
        self._database = database
        self._check = DestinationCheck(reader)
        self._clock = clock
        self._every = timedelta(hours=hours)
        self._id = uuid.uuid4().hex
        self._task = BackgroundTask("looking at destinations", self._go_on)

    def start(self) -> None:
        """Start to look, unless it is turned off."""
        if self._every:
            self._task.start()

    async def stop(self) -> None:
        """Stop; another process goes on where this one was."""
        await self._task.stop()
        if self._every:
            try:
                await end_turn(self._database, NAME, self._id, self._clock())
            except StorageError as error:
                if not is_unreachable(error):
                    raise

    async def _go_on(self) -> None:
        while True:  # noqa: ASYNC110 - nothing tells when a look is due
            await asyncio.sleep(_BETWEEN if await self._step() else _IDLE)

    async def _step(self) -> bool:
        """Look at the next links. Returns whether there may be more now."""
        begun = await take_turn(self._database, NAME, self._id, self._clock())
        if begun is None:
            return False
        if begun.is_over:
            if self._clock() < begun.begun_at + self._every:
                return False
            await begin_again(self._database, NAME, self._clock())
            return True
        return bool((await look_at_next(self._database, self._check, begun, None, self._clock())).links)
