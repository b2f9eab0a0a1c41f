"""Threads for the calls of MongoDB: organizations take turns, and none has them all."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from backend.storage.driver.lanes import Lane, StorageAway, in_lane, owned_by, owned_by_nobody
from tests.polling import until


class SlowCalls:
    """Calls that last until they may end, by whose they are."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.may_end = threading.Event()

    def begin(self, lane: Lane, owner: str, number: int = 1) -> list[asyncio.Task[str]]:
        """So many calls of an owner."""

        def call() -> str:
            self.begun.append(owner)
            self.may_end.wait(60)
            return owner

        async def ask() -> str:
            with lane.used(owner):
                return await in_lane(call)

        return [asyncio.ensure_future(ask()) for _ in range(number)]


@contextmanager
def a_lane(size: int, most_waiting: int = 1_000) -> Iterator[tuple[Lane, SlowCalls]]:
    """A lane, and slow calls, which end with the block."""
    lane, calls = Lane("test", size, most_waiting), SlowCalls()
    try:
        yield lane, calls
    finally:
        calls.may_end.set()
        lane.close()


async def test_one_owner_has_half_of_the_threads() -> None:
    """Whatever one has waiting, there are threads for another, who comes later."""
    with a_lane(4) as (lane, calls):
        asked = calls.begin(lane, "busy", 9)
        await until(lambda: len(calls.begun) == 2, "no call begins")
        asked += calls.begin(lane, "other")
        await until(lambda: "other" in calls.begun, "the other one waits")
        assert calls.begun == ["busy", "busy", "other"]
        calls.may_end.set()
        assert sorted(await asyncio.gather(*asked)) == ["busy"] * 9 + ["other"]
    assert not lane._waiting
    assert not lane._lines


async def test_owners_take_turns() -> None:
    """Where all threads are busy, one call of each owner comes before the second of any."""
    with a_lane(2) as (lane, calls):
        asked = [*calls.begin(lane, "first"), *calls.begin(lane, "second")]
        await until(lambda: len(calls.begun) == 2, "no call begins")
        asked += [*calls.begin(lane, "a", 4), *calls.begin(lane, "b", 1), *calls.begin(lane, "c", 1)]
        await until(lambda: len(lane._waiting) == 8, "not all wait")
        calls.may_end.set()
        await asyncio.gather(*asked)
        assert {*calls.begun[2:6]} == {"a", "b", "c"}
        assert sorted(calls.begun[2:]) == ["a"] * 4 + ["b", "c"]


async def test_what_is_several_owners_has_all_threads() -> None:
    """Those of a group, whoever began it."""
    with a_lane(2) as (lane, calls):

        def call() -> None:
            calls.begun.append("group")
            calls.may_end.wait(60)

        async def group() -> None:
            with lane.used("sender"):
                owned_by("busy")
                with owned_by_nobody():
                    await in_lane(call)

        asked = [asyncio.ensure_future(group()) for _ in range(2)]
        await until(lambda: len(calls.begun) == 2, "a thread stands idle")
        calls.may_end.set()
        await asyncio.gather(*asked)


async def test_an_owner_has_room_of_its_own() -> None:
    """Whoever has half of the room waiting is refused, and another is not."""
    with a_lane(2, most_waiting=8) as (lane, calls):
        asked = calls.begin(lane, "busy")
        await until(lambda: "busy" in calls.begun, "none has a thread")
        asked += calls.begin(lane, "busy", 4)
        await until(lambda: len(lane._lines.get("busy", ())) == 4, "not all wait")
        (refused,) = calls.begin(lane, "busy")
        with pytest.raises(StorageAway):
            await refused
        asked += calls.begin(lane, "other")
        await until(lambda: "other" in calls.begun, "the other one waits")
        calls.may_end.set()
        assert len(await asyncio.gather(*asked)) == 6


async def test_no_call_is_forgotten() -> None:
    """Many short calls of many owners at once are all answered, and calls that come when all are idle."""
    lane = Lane("test", 4, 10_000)

    async def ask(owner: int, number: int) -> int:
        with lane.used(owner):
            return await in_lane(lambda: number)

    for _ in range(20):
        answers = await asyncio.gather(*(ask(number % 7, number) for number in range(100)))
        assert answers == list(range(100))
    lane.close()
