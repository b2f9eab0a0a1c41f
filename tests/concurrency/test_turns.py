"""Work that is done one at a time, with a bound on who waits."""

from __future__ import annotations

import asyncio

import pytest

from backend.concurrency.fair_thread import TooManyWait
from backend.concurrency.turns import Turns


async def settle() -> None:
    """Let every task run until it waits."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_those_with_precedence_go_first() -> None:
    """Whoever has it goes before all who came earlier, and within a kind the first comes first."""
    turns, done = Turns(10), list[str]()
    gate = asyncio.Event()

    async def work(name: str, precedence: bool) -> None:
        async with turns.turn(precedence=precedence):
            await gate.wait()
            done.append(name)

    came = (("first", False), ("a", False), ("b", False), ("owner", True), ("other owner", True))
    tasks = [asyncio.create_task(work(*arrival)) for arrival in came]
    await settle()
    gate.set()
    await asyncio.gather(*tasks)
    assert done == ["first", "owner", "other owner", "a", "b"]


async def test_so_many_of_each_kind_may_wait() -> None:
    """Where a line is full, one more is sent away at once; the other line has its own room."""
    turns = Turns(2)
    async with turns.turn(precedence=False):
        waiting = [asyncio.create_task(turns.turn(precedence=False).__aenter__()) for _ in range(2)]
        await settle()
        assert not turns.has_room(precedence=False)
        with pytest.raises(TooManyWait):
            async with turns.turn(precedence=False):
                pass
        assert turns.has_room(precedence=True)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        assert turns.has_room(precedence=False)


async def test_a_turn_is_not_lost() -> None:
    """Work that fails, or is cancelled while it waits or as its turn comes, does not stop the rest."""
    turns = Turns(10)
    with pytest.raises(ValueError, match="work"):
        async with turns.turn(precedence=False):
            raise ValueError("work")

    async def work() -> str:
        async with turns.turn(precedence=False):
            return "done"

    async with turns.turn(precedence=False):
        early, late, last = (asyncio.create_task(work()) for _ in range(3))
        await settle()
        early.cancel()
        await settle()
    late.cancel()  # its turn has come, and it has not begun
    assert await last == "done"
    assert late.cancelled()
    assert early.cancelled()
