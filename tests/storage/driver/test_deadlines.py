"""A deadline is fixed once, for all that is asked of the database until then."""

from __future__ import annotations

import asyncio
from math import inf
from typing import Any

import pytest

from backend.storage.driver.blocking import in_thread, transact
from backend.storage.driver.deadlines import (
    deadline,
    deadline_paused,
    lift_deadline,
    new_deadline,
    seconds_left,
)
from backend.storage.driver.mongo import Database, StorageError, in_transaction, is_unreachable, ping


async def test_what_is_asked_too_late_is_not_tried(database: Database) -> None:
    """Every way to ask fails at once, as what may be tried again, also in tasks that were begun."""

    async def ask_in_transaction() -> None:
        async def work(session: Any) -> None:
            await database["links"].find_one({}, session=session)

        await in_transaction(database, work)

    async def ask_in_thread() -> None:
        def work(session: Any) -> None:
            database.delegate["links"].find_one({}, session=session)

        await in_thread(database, lambda blocking: transact(blocking, work))

    await ping(database)
    with deadline(0.001):
        await asyncio.sleep(0.01)
        for asked in (ping(database), ask_in_transaction(), ask_in_thread()):
            with pytest.raises(StorageError) as refused:
                await asyncio.create_task(asked)
            assert is_unreachable(refused.value)
        with new_deadline(5):  # for what others wait for
            await ping(database)
        with pytest.raises(StorageError):
            await ping(database)
        lift_deadline()
        await ping(database)
    await ping(database)


async def test_a_deadline_within_another() -> None:
    """The sooner one counts, unless it is a new one; what is waited for of others does not count."""
    assert seconds_left() == inf
    with deadline(5):
        with deadline(60):
            assert 4 < seconds_left() <= 5
        with new_deadline(60):
            assert 59 < seconds_left() <= 60
        with new_deadline():
            assert seconds_left() == inf
        before = seconds_left()
        with deadline_paused():
            await asyncio.sleep(0.1)
            with deadline_paused():
                await asyncio.sleep(0.1)
        assert before - 0.05 < seconds_left() <= before
    assert seconds_left() == inf
