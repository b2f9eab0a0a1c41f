"""Places in the feed while another process gives them as well."""

from __future__ import annotations

import asyncio
import uuid
from contextlib import AsyncExitStack
from datetime import timedelta
from functools import partial

import pytest
from bson import Timestamp

from backend.app import Service
from backend.concurrency.startable import running
from backend.domain.ids import OrgId
from backend.storage.driver.blocking import BlockingDatabase, BlockingSession, in_thread
from backend.storage.driver.mongo import Database, Document
from backend.storage.links.tags import create_tag
from backend.storage.outbox import entries, heads, sequencer
from backend.storage.outbox.sequencer import Sequencer, place_all, place_waiting
from backend.storage.processes.failing_items import list_failing
from backend.storage.processes.leases import NAME as LEASES
from backend.storage.processes.leases import end_lease, take_lease
from backend.system.clock import utc_now
from tests.between_commands import moments
from tests.fresh_database import fresh_database
from tests.polling import wait_for_async


async def test_another_sequencer_works_between_two_steps_of_one(service: Service) -> None:
    """Each entry has one place, and none is left out, also one that comes meanwhile."""
    async with fresh_database(service.resources.database) as database:

        async def note_and_place(org_id: OrgId) -> None:
            await create_tag(database, org_id, "late", None, utc_now())
            await place_waiting(database)

        async for moment in moments(database):
            org_id = OrgId(str(uuid.uuid4()))
            for name in ("first", "second"):
                await create_tag(database, org_id, name, None, utc_now())
            await moment.interrupt(place_waiting(moment.database), partial(note_and_place, org_id))
            await place_waiting(database)
            stored = database[entries.NAME].find({"org_id": org_id}).sort("place", 1)
            places = [entry.get("place") async for entry in stored]
            assert places == list(range(1, 3 + moment.came))


async def test_who_asks_is_not_stopped_by_another_feed(service: Service) -> None:
    """Its own entries get their places, whatever is wrong with the head of another."""
    async with fresh_database(service.resources.database) as database:
        damaged, whole = await _waiting(database), await _waiting(database)
        await database[heads.NAME].insert_one({"_id": damaged, "place": "many", "stamp": Timestamp(1, 1)})
        await place_all(database, whole)
        assert await _is_placed(database, whole)
        with pytest.raises(ValueError, match="many"):
            await place_all(database, damaged)


async def test_a_feed_that_fails_has_nobody_read_all_feeds(service: Service) -> None:
    """What was placed long ago is not read again to find out whose entries wait."""
    async with fresh_database(service.resources.database) as database:
        damaged, whole = await _waiting(database), await _waiting(database)
        await database[heads.NAME].insert_one({"_id": damaged, "place": "many", "stamp": Timestamp(1, 1)})
        await database.command("profile", 2)
        try:
            async with running(Sequencer(database)):
                await wait_for_async(partial(_is_placed, database, whole), "the other feed goes on")
        finally:
            await database.command("profile", 0)
        of_feeds = {"ns": f"{database.name}.{entries.NAME}"}
        plans = await database["system.profile"].distinct("planSummary", of_feeds)
        await database["system.profile"].drop()
        assert "COLLSCAN" not in plans
        assert any(plan.startswith("IXSCAN") for plan in plans)


async def test_one_that_was_killed_while_it_placed_holds_no_feed(service: Service) -> None:
    """Its transaction, which MongoDB would keep for a minute, is ended by whoever meets its head once its
    lease has run out; the others' entries have their places before."""
    async with fresh_database(service.resources.database) as database:
        held, free = await _waiting(database), await _waiting(database)
        session = await sequencer._new_session(database)
        name = f"{sequencer._ASKING}{sequencer._id_of(session)}"
        assert await take_lease(database, name, "killed", timedelta(minutes=1))

        def hold(blocking: BlockingDatabase) -> None:
            session.start_transaction()
            blocking[heads.NAME].update_one(
                {"_id": held}, {"$set": {"place": 0}}, upsert=True, session=session
            )

        await in_thread(database, hold)
        async with running(Sequencer(database)):
            await wait_for_async(partial(_is_placed, database, free), "the other feed goes on")
            assert not await _is_placed(database, held)
            await end_lease(database, name, "killed")
            await wait_for_async(partial(_is_placed, database, held), "its transaction is ended")
        assert await database[LEASES].find_one({"_id": name}) is None
        await in_thread(database, lambda _: session.end_session())


async def test_who_changes_entries_that_wait_makes_no_feed_fail(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While an erasure writes an entry, the others get their places, also those that came later than fit into
    a transaction with it; and it has its own afterwards, whoever gives them."""
    monkeypatch.setattr(sequencer, "MOST_PER_TRANSACTION", 1)
    async with fresh_database(service.resources.database) as database:
        held, free, damaged = [await _waiting(database) for _ in range(3)]
        await database[heads.NAME].insert_one({"_id": damaged, "place": "many", "stamp": Timestamp(1, 1)})
        async with await database.client.start_session() as erasure:
            erasure.start_transaction()
            erased = {"$set": {"facts.0.customer_id": None}}
            await database[entries.NAME].update_one({"org_id": held}, erased, session=erasure)
            asking = asyncio.create_task(place_all(database, held))
            async with running(Sequencer(database)):
                await wait_for_async(partial(_is_placed, database, free), "the other feed goes on")
                await wait_for_async(partial(_fails, database, damaged), "each is tried by itself")
                assert not await _fails(database, held)
                assert not asking.done()
                await erasure.commit_transaction()
                await wait_for_async(partial(_is_placed, database, held), "it has its place")
            await asking


async def test_nobody_takes_over_while_feeds_are_placed_one_by_one(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a batch fails, and MongoDB is slow with each of many feeds, one process places them all, however
    long that takes. Another one waits, and goes on once the first one stops."""
    monkeypatch.setattr(sequencer, "_LEASE_DURATION", timedelta(seconds=1))
    monkeypatch.setattr(sequencer, "_RENEW_INTERVAL", 0.2)
    placed, sessions = sequencer._placed, []

    async def place_slowly(
        database: Database, session: BlockingSession, batch_size: int, of: Document
    ) -> int:
        if not isinstance(of.get("org_id"), str):
            raise ValueError("a batch that fails")
        sessions.append(session)
        await asyncio.sleep(0.3)
        return await placed(database, session, batch_size, of)

    monkeypatch.setattr(sequencer, "_placed", place_slowly)
    async with fresh_database(service.resources.database) as database:
        waiting = [await _waiting(database) for _ in range(8)]
        first, second = Sequencer(database), Sequencer(database)
        async with AsyncExitStack() as both:
            await both.enter_async_context(running(first))
            for org_id in sorted(waiting):
                await wait_for_async(partial(_is_placed, database, org_id), "its entries have no places")
                if org_id == min(waiting):  # the first one has the lease
                    await both.enter_async_context(running(second))
            assert len({id(session) for session in sessions}) == 1
            await first.stop()
            later = await _waiting(database)
            await wait_for_async(partial(_is_placed, database, later), "nobody goes on")
            assert len({id(session) for session in sessions}) == 2


async def _fails(database: Database, org_id: OrgId) -> bool:
    return bool(await list_failing(database, org_id))


async def _waiting(database: Database) -> OrgId:
    """An organization with an entry that waits for its place."""
    org_id = OrgId(str(uuid.uuid4()))
    await create_tag(database, org_id, "tag", None, utc_now())
    return org_id


async def _is_placed(database: Database, org_id: OrgId) -> bool:
    waiting = {"org_id": org_id, "waits": True}
    return await database[entries.NAME].find_one(waiting, sort=sequencer._OLDEST_FIRST) is None
