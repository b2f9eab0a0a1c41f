"""The background task of a service that checks all destinations."""

from __future__ import annotations

import asyncio
import uuid
from datetime import timedelta

from backend.concurrency.background_task import BackgroundTask
from backend.destination_watch.step import check_next_links
from backend.storage.driver.mongo import Database, StorageError, is_unreachable
from backend.storage.links.destinations.rounds import begin_again, end_turn, take_turn
from backend.storage.processes.work import Work
from backend.system.clock import Clock
from backend.web_client.destination_check import DestinationCheck
from backend.web_client.page_reader import PageReader

NAME = "service"
# Seconds between two steps, and between two looks whether a round is due.
_STEP_PAUSE, _IDLE_PAUSE = 1.0, 30.0


class DestinationWatch:
    """Checks the destinations of all links once in `hours`, in one process at a time; with 0 hours, never."""

    def __init__(self, database: Database, reader: PageReader, clock: Clock, hours: float) -> None:
        self._database = database
        self._check = DestinationCheck(reader)
        self._clock = clock
        self._every = timedelta(hours=hours)
        self._id = uuid.uuid4().hex
        self._task = BackgroundTask(Work.DESTINATIONS, self._go_on)

    async def start(self) -> None:
        """Start the background task, unless `hours` is 0."""
        if self._every:
            await self._task.start()

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
            await asyncio.sleep(_STEP_PAUSE if await self._step() else _IDLE_PAUSE)

    async def _step(self) -> bool:
        """Check the next links. Returns whether more links may be due now."""
        begun = await take_turn(self._database, NAME, self._id, self._clock())
        if begun is None:
            return False
        if begun.is_over:
            if self._clock() < begun.begun_at + self._every:
                return False
            await begin_again(self._database, NAME, self._clock())
            return True
        step = await check_next_links(self._database, self._check, begun, None, self._clock())
        return not step.is_last
