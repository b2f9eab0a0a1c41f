"""Limits that all processes keep to the last request."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from backend.rate_limits.exact_limit import ExactLimit
from backend.rate_limits.limit import Limit
from backend.storage.accounts import rate_limits
from backend.storage.driver.mongo import Database
from tests.polling import wait_for_async


async def test_a_window_ends(database: Database) -> None:
    """What was refused is allowed again once the window is over, in the process that refused from memory
    too."""
    one, other = (ExactLimit(database, Limit("test", 2, seconds=3)) for _ in range(2))
    key = uuid.uuid4().hex
    states = [await limit.count(key) for limit in (one, other, one, other)]
    assert [state.allowed for state in states] == [True, True, False, False]
    for limit, remaining in ((one, 1), (other, 0)):  # each believes a moment longer than the window lasts
        state = await wait_for_async(
            lambda: limit.count(key),  # noqa: B023 - called here
            "the window does not end",
            lambda state: state.allowed,
        )
        assert state.remaining == remaining


async def test_seconds_left_are_rounded_up(database: Database) -> None:
    """Who waits as long as told is let in: the seconds left are never too few, nor more than the window's."""
    limit = ExactLimit(database, Limit("test", 1, seconds=7.5))
    key = uuid.uuid4().hex
    first, refused = await limit.count(key), await limit.count(key)
    assert (first.allowed, refused.allowed) == (True, False)
    assert 1 <= refused.reset_after <= 8


async def test_many_at_once_in_two_processes(database: Database) -> None:
    """Of eighty requests at once exactly those of the limit are allowed, each told its own count."""
    processes = [ExactLimit(database, Limit("test", 30)) for _ in range(2)]
    key = uuid.uuid4().hex
    states = await asyncio.gather(*(processes[number % 2].count(key) for number in range(80)))
    allowed = sorted(state.remaining for state in states if state.allowed)
    assert allowed == list(range(30))


async def test_a_count_that_takes_too_long(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A request is allowed that would wait longer than `PATIENCE` to be refused, and refused when it need not
    wait."""
    one, other = (ExactLimit(database, Limit("test", 1)) for _ in range(2))
    key = uuid.uuid4().hex
    assert (await one.count(key)).allowed
    with monkeypatch.context() as patch:
        patch.setattr(ExactLimit, "PATIENCE", 0.2)
        async with locked_counts(database, key):
            assert (await other.count(key)).allowed
    assert not (await other.count(key)).allowed


@asynccontextmanager
async def locked_counts(database: Database, key: str) -> AsyncIterator[None]:
    """For the length of the block, nobody can count for this key."""
    async with await database.client.start_session() as session, session.start_transaction():
        own = {"_id": f"test/{key}"}
        locked = await database[rate_limits.NAME].update_one(own, {"$inc": {"count": 1}}, session=session)
        assert locked.modified_count == 1
        yield
        await session.abort_transaction()


async def test_an_amount(database: Database) -> None:
    """An amount is taken whole where anything is left, and what it takes is missing afterwards."""
    limit = ExactLimit(database, Limit("test", 10))
    key = uuid.uuid4().hex
    states = [await limit.count(key, amount) for amount in (4, 5, 40, 1)]
    assert [(state.allowed, state.remaining) for state in states] == [
        (True, 6), (True, 1), (True, 0), (False, 0),
    ]  # fmt: skip


async def test_an_unexpected_error_is_told_and_the_next_count_goes_on(database: Database) -> None:
    """Where something else than the database fails, who waits is told, and nobody waits for ever."""
    limit = ExactLimit(database, Limit("test", 10))
    key = uuid.uuid4().hex
    with pytest.raises(OverflowError):  # MongoDB has no such numbers
        await asyncio.wait_for(limit.count(key, 2**70), 10.0)
    assert (await asyncio.wait_for(limit.count(key), 10.0)).remaining == 9
