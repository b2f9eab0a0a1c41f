"""Clicks counted in MongoDB."""

from __future__ import annotations

import asyncio
import uuid
from datetime import UTC, datetime, timedelta

import pytest

from backend.domain.analytics import WindowCounts
from backend.domain.ids import LinkId, OrgId
from backend.storage.click_counts import add_counts, count_window
from backend.storage.mongo import ClientSession, Database, in_transaction

NOW = datetime(2026, 3, 1, 12, 30, 15, tzinfo=UTC)


async def test_windows(database: Database) -> None:
    """Clicks fall out of the windows one by one, and stay in the total."""
    link_id = LinkId(str(uuid.uuid4()))
    ages = [timedelta(), timedelta(days=6), timedelta(days=7, seconds=1), timedelta(days=31)]
    await add_counts(database, None, [(OrgId("org"), link_id, NOW - age) for age in ages])
    assert await count_window(database, link_id, NOW) == WindowCounts(4, 3, 2)


async def test_batches_at_once_lose_nothing(database: Database) -> None:
    """Transactions that count clicks of the same links at the same time end in the sum of all."""
    links = [LinkId(str(uuid.uuid4())) for _ in range(3)]
    moments = [(OrgId("org"), link_id, NOW + timedelta(seconds=n)) for n in range(5) for link_id in links]

    async def count(session: ClientSession) -> None:
        await add_counts(database, session, moments)

    await asyncio.gather(*(in_transaction(database, count) for _ in range(8)))
    later = NOW + timedelta(minutes=1)
    assert [await count_window(database, link_id, later) for link_id in links] == [
        WindowCounts(40, 40, 40)
    ] * 3


async def test_a_failed_transaction_counts_nothing(database: Database) -> None:
    """What was counted in a transaction that fails was not counted."""
    link_id = LinkId(str(uuid.uuid4()))

    async def fail(session: ClientSession) -> None:
        await add_counts(database, session, [(OrgId("org"), link_id, NOW)])
        raise RuntimeError

    with pytest.raises(RuntimeError):
        await in_transaction(database, fail)
    assert (await count_window(database, link_id, NOW)).total == 0
