"""Readers that wait for news of their feeds."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import pytest

from backend.app import Service
from backend.concurrency.startable import running
from backend.domain.feed.cursor import Cursor
from backend.domain.ids import OrgId
from backend.storage.links.tags import create_tag
from backend.storage.outbox import heads
from backend.storage.outbox.sequencer import place_all
from backend.storage.outbox.watch import FeedWatch
from backend.system.clock import utc_now
from tests.fresh_database import fresh_database

LONG = 60.0  # seconds: nobody waits for so long


@pytest.mark.parametrize("place", ["many", None, float("nan"), 1e300])
async def test_a_head_that_can_not_be_read_keeps_nobody_else_waiting(service: Service, place: Any) -> None:
    """Whoever waits for that feed is let go on, and told when reading it; the others get their news."""
    damaged, whole = OrgId(str(uuid.uuid4())), OrgId(str(uuid.uuid4()))
    async with fresh_database(service.resources.database) as database:
        for org_id in (damaged, whole):
            await create_tag(database, org_id, "tag", None, utc_now())
            await place_all(database, org_id)
        await database[heads.NAME].update_one({"_id": damaged}, {"$set": {"place": place}})
        watch = FeedWatch(database)
        async with running(watch):
            waiting = asyncio.create_task(watch.wait(whole, Cursor(2), LONG))
            assert await watch.wait(damaged, Cursor(2), LONG)
            await create_tag(database, whole, "another", None, utc_now())
            await place_all(database, whole)
            assert await waiting
