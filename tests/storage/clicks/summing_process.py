"""A process that adds up an organization's expired days, for a test to kill."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from multiprocessing.connection import Connection

from backend.domain.ids import OrgId
from backend.storage.clicks.expired_days import Bounds, sum_expired
from backend.storage.driver.connection import connect


def add_up(uri: str, database: str, org_id: OrgId, connection: Connection) -> None:
    """Add them up a block at a time, once it has said that it begins."""
    asyncio.run(_add_up(uri, database, org_id, connection))


async def _add_up(uri: str, name: str, org_id: OrgId, connection: Connection) -> None:
    async with connect(uri, name, 60) as database:
        connection.send("begins")
        await sum_expired(database, org_id, datetime(2026, 6, 1, tzinfo=UTC), Bounds(blocks=1))
