"""The background task of a service that checks all destinations."""

from __future__ import annotations

import asyncio
import uuid
from datetime import timedelta

from backend.concurrency.background_task import BackgroundTask
from backend.concurrency.fair_semaphore import FairSemaphore
from backend.destination_watch.step import check_next_links
from backend.domain.ids import OrgId
from backend.storage.accounts.organizations import organization_items
from backend.storage.driver.mongo import Database, StorageError, is_unreachable
from backend.storage.links.destinations.rounds import begin_again, end_turn, rounds_over, take_turn
from backend.storage.processes.items import Items
from backend.storage.processes.work import Work
from backend.storage.schema.work_item import item_of_organization
from backend.system.clock import Clock
from backend.web_client.destination_check import DestinationCheck
from backend.web_client.page_reader import PageReader

NAME = "service"
# Seconds between two steps of an organization, and between two looks whose rounds are due.
_STEP_PAUSE, _LOOK_PAUSE = 1.0, 30.0
# How many organizations take a step at a time. One whose hosts don't answer has its place for minutes.
_MOST_STEPS = 20


class DestinationWatch:
    """Checks the destinations of all links once in `hours`, in one process at a time; with 0 hours, never.

    Each organization has a round of its own. So one with many destinations, or with slow ones, delays no
    other's.
    """

    def __init__(self, database: Database, reader: PageReader, clock: Clock, hours: float) -> None:
        self._database = database
        self._check = DestinationCheck(reader)
        self._clock = clock
        self._every = timedelta(hours=hours)
        self._id = uuid.uuid4().hex
        self._items = Items(database, Work.DESTINATIONS)
        self._places = FairSemaphore(_MOST_STEPS)
        self._rounds: dict[OrgId, asyncio.Task[None]] = {}  # those that go on
        self._task = BackgroundTask(Work.DESTINATIONS, self._go_on)

    async def start(self) -> None:
        """Start the background task, unless `hours` is 0."""
        if self._every:
            await self._task.start()

    async def stop(self) -> None:
        """Stop; another process goes on where this one was."""
        await self._task.stop()
        await self._end_rounds()
        if self._every:
            try:
                await end_turn(self._database, NAME, self._id, self._clock())
            except StorageError as error:
                if not is_unreachable(error):
                    raise

    async def _go_on(self) -> None:
        while True:
            if await take_turn(self._database, NAME, self._id, self._clock()):
                await self._go_on_with_rounds()
            else:
                await self._end_rounds()
            await asyncio.sleep(_LOOK_PAUSE)

    async def _go_on_with_rounds(self) -> None:
        """Go on with the rounds that are due, and raise what has ended others."""
        ended = [self._rounds.pop(org_id) for org_id, task in [*self._rounds.items()] if task.done()]
        over = await self._over(OrgId(""))
        for item in await organization_items(self._database):
            org_id = OrgId(item.id)
            if org_id not in self._rounds and _round_of(org_id) not in over:
                self._rounds[org_id] = asyncio.create_task(self._go_round(org_id))
        for task in ended:
            task.result()

    async def _end_rounds(self) -> None:
        for task in self._rounds.values():
            task.cancel()
        await asyncio.gather(*self._rounds.values(), return_exceptions=True)
        self._rounds.clear()

    async def _go_round(self, org_id: OrgId) -> None:
        """Check all links of an organization, a few at a time, from where its round is."""
        while True:
            async with self._places.place(org_id):
                if not await self._items.one(item_of_organization(org_id), self._take_step):
                    return
            if await self._over(org_id):
                return
            await asyncio.sleep(_STEP_PAUSE)

    async def _take_step(self, org_id: OrgId) -> None:
        name, now = _round_of(org_id), self._clock()
        # Whoever has the service's turn has those of all organizations.
        begun = await take_turn(self._database, name, NAME, now)
        if begun and begun.is_over:
            await begin_again(self._database, name, now)
            begun = await take_turn(self._database, name, NAME, now)
        if begun:
            await check_next_links(self._database, self._check, begun, org_id, now)

    async def _over(self, org_id: OrgId) -> set[str]:
        """The rounds that are over and not due again, of those whose names begin as this organization's."""
        return await rounds_over(self._database, _round_of(org_id), self._clock() - self._every)


def _round_of(org_id: OrgId) -> str:
    return f"{NAME}/{org_id}"
