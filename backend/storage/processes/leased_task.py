"""Leased tasks: work that one process of all does at a time, step by step in the background."""

from __future__ import annotations

import asyncio
import uuid
from abc import ABC, abstractmethod
from datetime import timedelta

from backend.concurrency.background_task import BackgroundTask
from backend.concurrency.cancellation import raise_if_cancelled
from backend.storage.driver.mongo import Database
from backend.storage.processes.leases import end_lease, take_lease


class LeasedTask(ABC):
    """Takes one step after the other, and gives the lease back when it stops.

    `name` says what the work does, such as "sending mails". A step asks `has_turn` before whatever only one
    process may do. The lease lasts for `duration`, unless it is renewed. The first step is taken after
    `first_pause` seconds. `holder` is the process, as the lease names it.
    """

    def __init__(
        self, name: str, database: Database, lease: str, duration: timedelta, *, first_pause: float = 0.0
    ) -> None:
        self.holder = uuid.uuid4().hex
        self._database = database
        self._lease = lease
        self._duration = duration
        self._first_pause = first_pause
        self._has_asked = False
        self._task = BackgroundTask(name, self._go_on)

    @abstractmethod
    async def step(self) -> float:
        """Do what is due, if this process has the turn. Returns the seconds until the next step."""

    async def has_turn(self) -> bool:
        """Take or renew the lease. Returns whether this process has it now. Does not return once it stops."""
        raise_if_cancelled()
        self._has_asked = True
        return await take_lease(self._database, self._lease, self.holder, self._duration)

    async def start(self) -> None:
        """Start to take steps."""
        await self._task.start()

    async def stop(self) -> None:
        """Stop, also in the middle of a step. Another process can go on at once."""
        await self._task.stop()
        if self._has_asked:
            await end_lease(self._database, self._lease, self.holder)

    async def _go_on(self) -> None:
        await asyncio.sleep(self._first_pause)
        while True:
            pause = await self.step()
            raise_if_cancelled()
            await asyncio.sleep(pause)
