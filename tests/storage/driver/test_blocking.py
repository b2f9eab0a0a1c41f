"""Transactions in one thread."""

from __future__ import annotations

import sys

import pytest

from backend.storage.driver.blocking import BlockingDatabase, in_thread, transact
from backend.storage.driver.mongo import Database


async def test_threads_take_turns_sooner_during_a_transaction(database: Database) -> None:
    """Its thread does not wait a millisecond for the event loop at each answer of MongoDB."""

    def interval(blocking: BlockingDatabase) -> float:
        return transact(blocking, lambda _: sys.getswitchinterval())

    assert await in_thread(database, interval) == pytest.approx(0.0002)
