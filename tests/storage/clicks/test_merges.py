"""Small blocks become larger ones, and each click stays once, whoever else is at work on them."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from backend.app import Service
from backend.domain.clicks.block import block_of
from backend.domain.clicks.clicks import Click
from backend.domain.ids import LinkId, OrgId
from backend.storage.clicks import blocks as click_blocks
from backend.storage.clicks import merges as click_merges
from backend.storage.clicks.blocks import NAME, SMALL_BLOCKS, fields_of
from backend.storage.clicks.merges import (
    merge_small_blocks,
    organizations_with_small_blocks,
)
from backend.storage.driver.mongo import ClientSession, Database, Document
from backend.storage.lifecycle.restores import begin_restore, cancel_restore, find_position, insert_history
from backend.storage.processes.leases import take_lease
from tests.between_commands import moments
from tests.facts.clicks import click, recorded_clicks, ship
from tests.fresh_database import fresh_database
from tests.polling import wait_for_async

NOW = datetime.now(UTC).replace(microsecond=0)
LINKS = [LinkId(str(uuid.uuid4())) for _ in range(2)]


@pytest.fixture(scope="module")
async def database(service: Service) -> AsyncIterator[Database]:
    """A database of this file's own, in which no service merges blocks."""
    async with fresh_database(service.resources.database) as fresh:
        yield fresh


@pytest.fixture
def org_id() -> OrgId:
    """An organization of this test's own."""
    return OrgId(str(uuid.uuid4()))


async def ship_each(database: Database, org_id: OrgId, number: int, at: datetime = NOW) -> list[Click]:
    """Store so many clicks, each in a block of its own; in the order of their times."""
    clicks = [click(org_id, LINKS[n % 2], at, visitor=n) for n in range(number)]
    for single in clicks:
        await ship(database, [single])
    return clicks


async def blocks_of_org(database: Database, org_id: OrgId) -> list[Document]:
    """The organization's blocks."""
    return await database[NAME].find({"org_id": org_id}).to_list(None)


async def number_of_blocks(database: Database, org_id: OrgId) -> int:
    """How many they are."""
    return await database[NAME].count_documents({"org_id": org_id})


def visitors(clicks: list[Click]) -> list[int | None]:
    """Whose they are, in order."""
    return sorted((stored.visitor for stored in clicks), key=str)


async def test_small_blocks_are_merged(database: Database, org_id: OrgId) -> None:
    """A day's single clicks end up in one block, another day's in another. An old day's is merged no more."""
    old = NOW - timedelta(days=9)
    clicks = [*await ship_each(database, org_id, 5), *await ship_each(database, org_id, 4, old)]
    assert await merge_small_blocks(database, org_id) == 7
    is_small_by_clicks = {
        block["clicks"]: block.get("is_small", False) for block in await blocks_of_org(database, org_id)
    }
    assert is_small_by_clicks == {5: True, 4: False}
    assert visitors(await recorded_clicks(database, org_id)) == visitors(clicks)
    assert await merge_small_blocks(database, org_id) == 0


async def test_blocks_grow_no_further_than_they_should(database: Database, org_id: OrgId) -> None:
    """What is large enough is left alone, and so is the next one until it is."""
    for number in (900, 900, 900, 100):
        await ship(database, [click(org_id, LINKS[0], NOW)] * number)
    assert await merge_small_blocks(database, org_id) == 2
    assert sorted(block["clicks"] for block in await blocks_of_org(database, org_id)) == [100, 2_700]


async def test_a_block_that_can_not_be_read(database: Database, org_id: OrgId) -> None:
    """It is marked, stays as it is and is not met again; the others of its day are merged."""
    await ship_each(database, org_id, 3)
    await database[NAME].update_one({"org_id": org_id}, {"$set": {"packed": b"\x01damaged"}})
    assert [await merge_small_blocks(database, org_id) for _ in range(3)] == [0, 1, 0]
    kept = {bool(block.get("is_unreadable")): block for block in await blocks_of_org(database, org_id)}
    assert bytes(kept[True]["packed"]) == b"\x01damaged"
    assert kept[False]["clicks"] == 2


async def test_a_block_that_is_changed_meanwhile(
    database: Database, org_id: OrgId, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing that was read before is stored; the next merge takes what is there then."""
    await ship_each(database, org_id, 3)
    remaining = click(org_id, LINKS[0], NOW, visitor=99)

    async def change_first(
        database: Database, session: ClientSession, org_id: OrgId, blocks: list[Document]
    ) -> None:
        monkeypatch.undo()
        changed = {"$set": fields_of(block_of(org_id, [remaining]))}
        await database[NAME].update_one({"_id": blocks[0]["_id"]}, changed)
        await click_blocks.delete_unchanged(database, session, org_id, blocks)

    monkeypatch.setattr(click_merges, "delete_unchanged", change_first)
    assert await merge_small_blocks(database, org_id) == 0
    assert await number_of_blocks(database, org_id) == 3
    assert await merge_small_blocks(database, org_id) == 2
    assert visitors(await recorded_clicks(database, org_id)) in [[1, 2, 99], [0, 2, 99], [0, 1, 99]]


async def test_blocks_come_and_are_merged_between_two_steps_of_a_merge(database: Database) -> None:
    """Each click stays once."""

    async def ship_and_merge(org_id: OrgId) -> None:
        await ship_each(database, org_id, 2)
        await merge_small_blocks(database, org_id)

    async for moment in moments(database):
        org_id = OrgId(str(uuid.uuid4()))
        await ship_each(database, org_id, 3)
        await moment.interrupt(merge_small_blocks(moment.database, org_id), partial(ship_and_merge, org_id))
        kept = visitors(await recorded_clicks(database, org_id))
        assert kept == ([0, 0, 1, 1, 2] if moment.came else [0, 1, 2])


async def test_what_is_being_restored_stays_as_it_is(database: Database, org_id: OrgId) -> None:
    """No block is merged before all are there: the restore may store what it stored once again."""
    clicks = await ship_each(database, org_id, 4)
    whole = await blocks_of_org(database, org_id)
    await database[NAME].delete_many({"org_id": org_id})
    assert await find_position(database, org_id, "some") is None
    await begin_restore(database, org_id, "some", [])
    for position in (1, 2):
        await insert_history(database, NAME, whole, org_id=org_id, fingerprint="some", position=position)
        assert org_id not in await organizations_with_small_blocks(database, 1)
    async with await database.client.start_session() as session:
        await cancel_restore(database, session, org_id)
    assert org_id in await organizations_with_small_blocks(database, 1)
    assert visitors(await recorded_clicks(database, org_id)) == visitors(clicks)


async def test_small_blocks_are_counted_in_an_index(database: Database, org_id: OrgId) -> None:
    """To find who has many, no block is read."""
    await ship_each(database, org_id, 3)
    assert org_id in await organizations_with_small_blocks(database, 3)
    assert org_id not in await organizations_with_small_blocks(database, 4)
    pipeline = click_merges._counting(1)
    command = {"aggregate": NAME, "pipeline": pipeline, "cursor": {}, "hint": SMALL_BLOCKS}
    plan = await database.command("explain", command, verbosity="executionStats")
    stats = plan.get("executionStats") or plan["stages"][0]["$cursor"]["executionStats"]
    assert stats["totalDocsExamined"] == 0
    assert stats["totalKeysExamined"] >= 3


async def test_in_the_background(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A service merges what many have at once, and what few have within the hour, beside other services."""
    monkeypatch.setattr(click_merges, "MANY_SMALL_BLOCKS", 10)
    many, few = OrgId(str(uuid.uuid4())), OrgId(str(uuid.uuid4()))
    async with fresh_database(database) as fresh:
        assert await take_lease(fresh, click_merges.LEASE_OF_ALL, "another", timedelta(hours=1))
        for org_id, number in ((many, 10), (few, 2)):
            await ship_each(fresh, org_id, number)
        task = click_merges.click_merges(fresh)
        await task.start()
        blocks = partial(number_of_blocks, fresh, many)
        await wait_for_async(blocks, "nothing is merged", lambda number: number == 1)
        await task.stop()
        assert await number_of_blocks(fresh, few) == 2
        assert not await take_lease(fresh, click_merges.LEASE, "another", timedelta(minutes=1))
        await fresh["leases"].delete_many({})
        task = click_merges.click_merges(fresh)
        await task.start()
        blocks = partial(number_of_blocks, fresh, few)
        await wait_for_async(blocks, "those of few are not merged", lambda number: number == 1)
        await task.stop()
