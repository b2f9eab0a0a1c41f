"""Work that one process of all does at a time."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from backend.storage.driver.mongo import Database
from backend.storage.processes import leases
from backend.storage.processes.leased_task import LeasedTask
from tests.storage.late_writes import late_find_and_modify


class Answered(LeasedTask):
    """Waits for answers, as libraries do."""

    def __init__(self, database: Database) -> None:
        super().__init__("asking", database, "asking", timedelta(seconds=30))
        self.answer = asyncio.get_running_loop().create_future()
        self.asks = asyncio.Event()

    async def step(self) -> float:
        """Wait for the answer."""
        self.asks.set()
        await asyncio.wait_for(self.answer, 20)
        return 0.05


async def test_work_ends_that_is_stopped_in_the_moment_of_an_answer(database: Database) -> None:
    """Python 3.11 loses the cancellation then."""
    task = Answered(database)
    await task.start()
    await task.asks.wait()
    await asyncio.sleep(0)  # until it waits
    task.answer.set_result(None)
    done, _ = await asyncio.wait({asyncio.create_task(task.stop())}, timeout=10)
    assert done


class Asking(LeasedTask):
    """Asks for its turn."""

    def __init__(self, database: Database) -> None:
        super().__init__("asking", database, "asked", timedelta(seconds=30))

    async def step(self) -> float:
        """Ask, and do nothing."""
        await self.has_turn()
        return 0.05


async def test_who_stops_as_it_asks_leaves_the_lease_free(database: Database) -> None:
    """What was just being asked for the lease is not carried out after its end: others go on at once."""
    task = Asking(database)
    with late_find_and_modify(leases.NAME) as write:
        await task.start()
        await asyncio.to_thread(write.asked.wait)
        await task.stop()
        await asyncio.to_thread(write.answered.wait)
    assert await leases.take_lease(database, "asked", "another", timedelta(seconds=30))
