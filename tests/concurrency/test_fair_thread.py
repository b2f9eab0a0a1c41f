"""A thread in which owners take turns."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from backend.concurrency.fair_thread import FairThread, TooManyWait
from tests.stopped_thread import stopped


async def settle() -> None:
    """Let every task run until it waits."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_owners_take_turns() -> None:
    """Whoever has one piece waits for one of each other owner, however many those have; and an owner's
    pieces come in their order."""
    thread, done = FairThread("test", 1), list[str]()
    async with stopped(thread) as release:
        asked = ["a1", "a2", "a3", "b1", "b2", "c1"]
        pieces = [asyncio.ensure_future(thread.run(name[0], partial(done.append, name))) for name in asked]
        await settle()
        release.set()
        await asyncio.gather(*pieces)
    assert done == ["a1", "b1", "c1", "a2", "b2", "a3"]


async def test_work_in_pieces_lets_others_between() -> None:
    """Whoever asks for the next piece when one is done comes behind those who came meanwhile."""
    thread, done = FairThread("test", 1), list[str]()

    async def long_work() -> None:
        for number in range(3):
            await thread.run("long", partial(done.append, f"long {number}"))

    async with stopped(thread) as release:
        tasks = [asyncio.ensure_future(long_work()) for _ in range(5)]
        await settle()
        tasks.append(asyncio.ensure_future(thread.run("short", partial(done.append, "short"))))
        await settle()
        release.set()
        await asyncio.gather(*tasks)
    assert done.index("short") == 1


async def test_a_piece_that_fails_or_is_given_up_stops_nobody() -> None:
    """Its error is raised to who asked, what nobody waits for any more is not done, and the rest goes on."""
    thread, done = FairThread("test", 1), list[str]()

    def fail() -> None:
        raise ValueError("a piece")

    async with stopped(thread) as release:
        failing = asyncio.ensure_future(thread.run("a", fail))
        given_up = asyncio.ensure_future(thread.run("a", partial(done.append, "given up")))
        last = asyncio.ensure_future(thread.run("a", partial(done.append, "last")))
        await settle()
        given_up.cancel()
        await settle()
        release.set()
        await last
    with pytest.raises(ValueError, match="a piece"):
        await failing
    assert done == ["last"]


async def test_each_owner_has_so_much_under_way() -> None:
    """One block more of an owner is refused at once; other owners have their own room, and it comes back."""
    thread = FairThread("test", 2)
    with thread.admitted("a"), thread.admitted("a"):
        with pytest.raises(TooManyWait), thread.admitted("a"):
            pass
        with thread.admitted("b"):
            pass
    with thread.admitted("a"):
        assert await thread.run("a", lambda: "done") == "done"
