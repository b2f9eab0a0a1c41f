"""Work that one process of all does at a time."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from backend.storage.driver.mongo import Database
from backend.storage.processes.leased_task import LeasedTask


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
