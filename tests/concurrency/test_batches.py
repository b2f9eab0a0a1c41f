"""Batches: who waits for one is answered, whatever happens to it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from backend.concurrency.batches import Batches
from tests.polling import until


class Work:
    """Doubles numbers, in batches that are let go one by one."""

    def __init__(self) -> None:
        self.batches: list[tuple[str, list[int]]] = []
        self.gate = asyncio.Semaphore(0)

    async def __call__(self, key: str, numbers: Sequence[int]) -> list[int]:
        self.batches.append((key, list(numbers)))
        await self.gate.acquire()
        if 0 in numbers:
            raise ZeroDivisionError
        return [number * 2 for number in numbers if number > 0]  # too few results if one is less


async def test_what_arrives_meanwhile_is_the_next_batch() -> None:
    """Of the same key, and without those who have given up; another key waits for nobody."""
    work = Work()
    batches: Batches[str, int, int] = Batches(work)
    first = asyncio.create_task(batches.add("a", 1))
    await until(lambda: work.batches, "the first does not begin")
    others = [asyncio.create_task(batches.add(key, number)) for key, number in (("a", 2), ("a", 3), ("b", 4))]
    await until(lambda: len(work.batches) == 2, "another key waits")
    others[0].cancel()
    for _ in range(3):
        work.gate.release()
    assert await asyncio.gather(first, *others[1:]) == [2, 6, 8]
    assert work.batches == [("a", [1]), ("b", [4]), ("a", [3])]


@pytest.mark.parametrize("bad", [0, -1])
async def test_an_error_is_told_to_its_batch_and_the_next_goes_on(bad: int) -> None:
    """Everybody in the batch gets the error, also where the work forgot one of them."""
    work = Work()
    batches: Batches[str, int, int] = Batches(work)
    failing = asyncio.create_task(batches.add("a", bad))
    await until(lambda: work.batches, "it does not begin")
    after = asyncio.create_task(batches.add("a", 5))
    await asyncio.sleep(0)
    work.gate.release()
    work.gate.release()
    with pytest.raises((ZeroDivisionError, ValueError)):
        await failing
    assert await after == 10
    work.gate.release()
    assert await batches.add("a", 6) == 12


async def test_nobody_waits_for_work_that_is_cancelled() -> None:
    """As a process ends, those in the batch and those behind it are cancelled as well."""
    work = Work()
    batches: Batches[str, int, int] = Batches(work)
    waiting = [asyncio.create_task(batches.add("a", 1))]
    await until(lambda: work.batches, "it does not begin")
    waiting.append(asyncio.create_task(batches.add("a", 2)))
    await asyncio.sleep(0)
    batches._workers["a"].cancel()
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(result) for result in results] == [asyncio.CancelledError] * 2
