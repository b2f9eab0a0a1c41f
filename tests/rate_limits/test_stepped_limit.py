"""Limits that are counted in memory and shared in steps."""

from __future__ import annotations

import logging
import uuid

import pytest

from backend.rate_limits.limit import Limit
from backend.rate_limits.stepped_limit import SteppedLimit
from backend.storage.accounts import rate_limits
from backend.storage.driver.mongo import Database
from tests.polling import until, wait_for_async
from tests.rate_limits.counted import counted_now


class Seconds:
    """A monotonic clock for a test to move."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def a_limit(amount: int) -> Limit:
    """A limit that no other test counts for."""
    return Limit(f"test-{uuid.uuid4().hex}", amount)


async def stored(database: Database, limit: Limit) -> dict[str, int]:
    """The counts that the database holds for a limit, by key."""
    found = counted_now(database).find({"_id": {"$regex": f"^{limit.name}/"}})
    return {document["_id"].removeprefix(f"{limit.name}/"): document["count"] async for document in found}


async def test_a_process_keeps_the_limit(database: Database) -> None:
    """Exactly the limit is allowed within one process, then nothing until the window is over."""
    seconds = Seconds()
    limit = SteppedLimit(database, a_limit(100), monotonic=seconds)
    states = [limit.count("key") for _ in range(150)]
    assert [state.allowed for state in states] == [True] * 100 + [False] * 50
    assert 1 <= states[-1].reset_after <= 60
    await limit.settle()
    seconds.now += 61
    assert limit.count("key").allowed
    await limit.stop()


async def test_processes_share_the_limit(database: Database) -> None:
    """What two processes allow together is the limit, and a step more for each at the most."""
    shared = a_limit(100)
    processes = [SteppedLimit(database, shared) for _ in range(2)]
    allowed = 0
    for number in range(200):
        process = processes[number % 2]
        allowed += process.count("key").allowed
        await process.settle()
    assert 100 <= allowed <= 100 + 2 * 5
    assert (await stored(database, shared))["key"] >= 100


async def test_a_window_ends_when_the_database_ends_it(database: Database) -> None:
    """What counted in a window does not count in the next one too, where the database begins that a moment
    before the process does: who is busy without a break keeps all of the limit."""
    seconds, shared = Seconds(), a_limit(100)
    limit = SteppedLimit(database, shared, monotonic=seconds)
    for _ in range(90):
        limit.count("key")
    await limit.settle()
    ended = {"$currentDate": {"ends_at": True}}
    await counted_now(database).update_one({"_id": f"{shared.name}/key"}, ended)
    seconds.now += 59.99
    for _ in range(5):
        limit.count("key")
    await limit.settle()
    assert limit.count("key").remaining == 94


async def test_who_sends_little_is_told_to_nobody(database: Database) -> None:
    """Below a twentieth of the limit nothing is written."""
    limit = a_limit(100)
    counting = SteppedLimit(database, limit)
    for number in range(50):
        for _ in range(4):
            counting.count(f"visitor {number}")
    for _ in range(5):
        counting.count("busy")
    await counting.settle()
    assert await stored(database, limit) == {"busy": 5}


async def test_what_is_stored_of_a_key(database: Database) -> None:
    """The database gets what stands for a key, and never the key."""
    limit = a_limit(1)

    async def hashed(key: str) -> str:
        return f"hash of {len(key)} characters"

    counting = SteppedLimit(database, limit, hashed)
    counting.count("203.0.113.9")
    await counting.settle()
    assert await stored(database, limit) == {"hash of 11 characters": 1}


async def test_a_large_amount_is_not_refused_for_ever(database: Database) -> None:
    """Amounts beyond the limit pass while anything is left, and use the window up."""
    limit = SteppedLimit(database, a_limit(10))
    assert limit.count("key", 50).allowed
    assert not limit.count("key", 1).allowed
    await limit.stop()


async def test_what_is_given_back_can_be_used(database: Database) -> None:
    """What is taken back counts for nothing."""
    limit = SteppedLimit(database, a_limit(1))
    for _ in range(5):
        assert limit.count("key").allowed
        limit.give_back("key")
    await limit.stop()


async def test_while_the_database_fails(database: Database, caplog: pytest.LogCaptureFixture) -> None:
    """A database that takes nothing lets nobody past the limit, the log says so once, and what was counted
    meanwhile is shared once the database takes it again."""
    limit = a_limit(20)
    counting = SteppedLimit(database, limit)
    await database.command("collMod", rate_limits.NAME, validator={"_id": {"$not": {"$regex": limit.name}}})
    try:
        with caplog.at_level(logging.WARNING, "waylink.rate_limits"):
            allowed = [counting.count("key").allowed for _ in range(30)]
            await until(lambda: counting._retries.failures > 1, "it is not tried again")
    finally:
        await database.command("collMod", rate_limits.NAME, validator={})
    assert sum(allowed) == 20
    assert caplog.text.count("within each process only") == 1
    await counting.settle()
    assert await stored(database, limit) == {"key": 20}
    await counting.stop()


async def test_one_key_that_fails_keeps_no_other_from_being_shared(database: Database) -> None:
    """Whatever the error is: the others are shared meanwhile, and this one once it can be."""
    limit, is_broken = a_limit(20), True

    async def name_of(key: str) -> str:
        if is_broken and key == "broken":
            raise RuntimeError("no name")
        return key

    counting = SteppedLimit(database, limit, name_of)
    for key in ("broken", "whole"):
        for _ in range(3):
            counting.count(key)

    async def shared() -> dict[str, int]:
        return await stored(database, limit)

    await wait_for_async(shared, "the other is not shared", lambda counts: counts == {"whole": 3})
    is_broken = False
    await wait_for_async(shared, "it is lost", lambda counts: counts == {"broken": 3, "whole": 3})
    await counting.stop()


async def test_addresses_are_forgotten(database: Database) -> None:
    """What has ended is kept no longer than until the next window begins."""
    seconds = Seconds()
    limit = SteppedLimit(database, a_limit(1000), monotonic=seconds)
    for number in range(10):
        limit.count(f"key {number}")
    seconds.now += 61
    limit.count("another")
    assert list(limit._windows) == ["another"]


async def test_memory_is_bounded(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many addresses there are, the oldest windows make room."""
    monkeypatch.setattr(SteppedLimit, "CAPACITY", 3)
    limit = SteppedLimit(database, a_limit(1000))
    for number in range(10):
        limit.count(f"key {number}")
    assert limit.count("key 9").remaining == 998
    assert limit.count("key 0").remaining == 999
