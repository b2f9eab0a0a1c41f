"""Work in the background for two organizations: a fault of one is neither the other's nor for ever."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.domain.ids import OrgId
from backend.storage.analytics.client import Analytics
from backend.storage.clicks import merges
from backend.storage.driver.mongo import Database
from backend.storage.processes import items
from backend.storage.processes.failing_items import list_failing
from backend.storage.processes.work import Work
from backend.webhooks import delivery
from tests.background.works import WORKS, BackgroundWork, World
from tests.facts.failing_items import end_pauses
from tests.facts.organizations import create_test_organization
from tests.fresh_database import fresh_database
from tests.processes.smtp_server import smtp_server
from tests.webhooks.receiver import receiver

# What may take long for one organization, and can be divided.
IN_TURNS = {
    Work.BLOCKS,
    Work.DELETIONS,
    Work.ERASURES,
    Work.EXPIRED_DAYS,
    Work.FEED_AGING,
    Work.LATE_COUNTS,
    Work.LEDGER,
}


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


async def test_much_of_one_delays_no_other(
    database: Database, analytics: Analytics, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each has its first turn before any has its second. In the end, all is done."""
    turns: list[OrgId] = []
    take = items._Turns.take

    async def noted(own: items._Turns[object], value: object) -> None:
        turns.append(OrgId(own.item.org_id or own.item.id))
        await take(own, value)

    monkeypatch.setattr(items, "_TURN_SECONDS", 0.0)
    monkeypatch.setattr(items._Turns, "take", noted)
    monkeypatch.setattr(merges, "MANY_SMALL_BLOCKS", 1)
    async with fresh_database(database) as own:
        with smtp_server() as mailbox, receiver() as hook:
            for work in (work for work in WORKS if work.work in IN_TURNS):
                world = World(own, tmp_path, analytics, mailbox, hook)
                both = [await create_test_organization(own, name) for name in ("One", "Two")]
                world.organizations.extend(both)
                for organization in both:
                    await work.prepare(world, organization)
                await own["leases"].delete_many({})
                turns.clear()
                await work.do(world)
                theirs = [both.index(org) for id in turns for org in both if org.id == id]
                assert (work.work, sorted(theirs[:2]), sorted(theirs[2:4])) == (work.work, [0, 1], [0, 1])
                assert [await work.is_done(world, organization) for organization in both] == [True, True]
