"""Work in the background for two organizations: a fault of one is neither the other's nor for ever."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.storage.analytics.client import Analytics
from backend.storage.driver.mongo import Database
from backend.storage.processes.failing_items import list_failing
from backend.storage.processes.work import Work
from backend.webhooks import delivery
from tests.background.works import WORKS, BackgroundWork, World
from tests.facts.failing_items import end_pauses
from tests.facts.organizations import create_test_organization
from tests.fresh_database import fresh_database
from tests.processes.smtp_server import smtp_server
from tests.webhooks.receiver import receiver


@pytest.fixture
def soon_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    """An endpoint to which something is sent does not fail."""
    monkeypatch.setattr(delivery, "_PROVEN_AFTER", 0.0)


def test_each_kind_of_work_is_tried() -> None:
    """Whoever adds one says here what a fault in it is."""
    assert {work.work for work in WORKS} == set(Work)


@pytest.mark.parametrize("broken", [0, 1], ids=["first", "second"])
@pytest.mark.parametrize("work", WORKS, ids=lambda work: f"{work.work.name}-{work.collection}")
@pytest.mark.usefixtures("soon_proven")
async def test_a_fault_of_one_stops_no_other(
    database: Database, analytics: Analytics, tmp_path: Path, work: BackgroundWork, broken: int
) -> None:
    """Whichever comes first, the other's work is done, and nothing of the fault is seen there. Once it is
    mended and its pause is over, that work is done, too."""
    async with fresh_database(database) as own:
        with smtp_server() as mailbox, receiver() as hook:
            world = World(own, tmp_path, analytics, mailbox, hook)
            for name in ("One", "Two"):
                world.organizations.append(await create_test_organization(own, name))
            for organization in world.organizations:
                await work.prepare(world, organization)
            damaged, whole = world.organizations[broken], world.organizations[1 - broken]
            query = {"$or": [{"org_id": damaged.id}, {"_id": damaged.id}]}
            former = await own[work.collection].find_one_and_delete(query)
            assert former
            await own[work.collection].insert_one(work.fault(former))
            await work.do(world)
            assert await work.is_done(world, whole)
            assert not await work.is_done(world, damaged)
            failing = await list_failing(own)
            assert {item.work for item in failing} == {work.work}
            assert await list_failing(own, whole.id) == []
            assert all(damaged.id in {item.org_id, item.item} for item in failing)
            await own[work.collection].delete_one({"_id": work.fault(former)["_id"]})
            await own[work.collection].insert_one(former)
            await own["leases"].delete_many({})
            await end_pauses(own, work.work)
            world.is_whole = True
            await work.do(world)
            assert await work.is_done(world, damaged)
            assert await list_failing(own) == []
