"""Work that one process of all does at a time."""

from __future__ import annotations

import asyncio
import threading
import time
from datetime import timedelta
from typing import Any

import pytest
from pymongo.collection import Collection

from backend.storage.driver.mongo import Database
from backend.storage.processes import leases
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


class Asking(LeasedTask):
    """Asks for its turn."""

    def __init__(self, database: Database) -> None:
        super().__init__("asking", database, "asked", timedelta(seconds=30))

    async def step(self) -> float:
        """Ask, and do nothing."""
        await self.has_turn()
        return 0.05


async def test_who_stops_as_it_asks_leaves_the_lease_free(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was just being asked for the lease is not carried out after its end: others go on at once."""
    asked, answered = threading.Event(), threading.Event()
    find_and_modify = Collection._find_and_modify

    def late(collection: Collection[Any], *values: Any, **options: Any) -> Any:
        if collection.name != leases.NAME:
            return find_and_modify(collection, *values, **options)
        asked.set()
        time.sleep(0.2)
        answer = find_and_modify(collection, *values, **options)
        answered.set()
        return answer

    monkeypatch.setattr(Collection, "_find_and_modify", late)
    task = Asking(database)
    await task.start()
    await asyncio.to_thread(asked.wait)
    await task.stop()
    await asyncio.to_thread(answered.wait)
    monkeypatch.undo()
    assert await leases.take_lease(database, "asked", "another", timedelta(seconds=30))
