"""A limit of which no owner has more than its part."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence

from backend.concurrency.fair_semaphore import FairSemaphore


class Crowd:
    """Tasks of owners, each of which keeps its place until the gate is open, by the names of their owners."""

    def __init__(self, places: int) -> None:
        self.semaphore = FairSemaphore(places)
        self.inside = Counter[str]()
        self.came: list[str] = []
        self.gate = asyncio.Event()

    async def enter(self, owner: str) -> None:
        """Take a place, and keep it."""
        async with self.semaphore.place(owner):
            self.came.append(owner)
            self.inside[owner] += 1
            try:
                await self.gate.wait()
            finally:
                self.inside[owner] -= 1

    async def begin(self, owners: Sequence[str]) -> list[asyncio.Task[None]]:
        """Tasks of these owners, all of which have a place or wait for one."""
        tasks = [asyncio.ensure_future(self.enter(owner)) for owner in owners]
        await settle()
        return tasks

    @property
    def is_empty(self) -> bool:
        """Whether nobody is inside or waits, and nothing is kept of anybody."""
        return not (self.semaphore._held or self.semaphore._lines) and not self.inside.total()


async def settle() -> None:
    """Let every task run until it waits."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_no_owner_has_more_than_half() -> None:
    """Whoever has many waiting leaves room for another, who comes later."""
    crowd = Crowd(4)
    tasks = await crowd.begin("aaaaaa")
    assert crowd.inside == {"a": 2}
    tasks += await crowd.begin("bc")
    assert crowd.inside == {"a": 2, "b": 1, "c": 1}
    crowd.gate.set()
    await asyncio.gather(*tasks)
    assert crowd.is_empty
    assert crowd.semaphore._free == 4


async def test_owners_take_turns() -> None:
    """Where all places are taken, the next one is another owner's."""
    crowd = Crowd(2)
    tasks = await crowd.begin("abaaacb")
    assert crowd.inside == {"a": 1, "b": 1}
    crowd.gate.set()
    await asyncio.gather(*tasks)
    assert crowd.came.index("c") <= 4
    assert Counter(crowd.came) == {"a": 4, "b": 2, "c": 1}
    assert crowd.is_empty


async def test_a_place_is_not_lost() -> None:
    """Whoever fails, gives up while waiting, or gives up as the place comes, leaves it to the others."""
    crowd = Crowd(2)
    inside, waiting, coming, last = await crowd.begin("aaaa")
    waiting.cancel()
    await settle()
    inside.cancel()  # whose place goes to the one who gives up in the same moment
    await asyncio.sleep(0)
    coming.cancel()
    await settle()
    assert crowd.inside["a"] <= 2
    crowd.gate.set()
    await last
    await asyncio.gather(inside, waiting, coming, return_exceptions=True)
    assert crowd.is_empty
    assert crowd.semaphore._free == 2
