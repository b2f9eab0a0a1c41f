"""Days whose single clicks have expired: what they were stays, added up, whatever dies meanwhile."""

from __future__ import annotations

import asyncio
import random
import uuid
from collections import Counter
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from backend.doctor.storage import examine_storage
from backend.domain.accounts.organizations import CLICK_DAYS
from backend.domain.clicks import summary as click_summary
from backend.domain.clicks.block import DAY_MS, block_of
from backend.domain.clicks.clicks import Click
from backend.domain.feed.facts import SUMMARY, Fact
from backend.domain.ids import LinkId, OrgId
from backend.settings import Settings
from backend.storage.accounts import organizations
from backend.storage.accounts.organizations import set_click_days
from backend.storage.clicks import address_keys, expired_days
from backend.storage.clicks import blocks as click_blocks
from backend.storage.clicks import summaries as click_summaries
from backend.storage.clicks.expired_days import Bounds, sum_all, sum_expired
from backend.storage.clicks.merges import merge_small_blocks
from backend.storage.clicks.summaries import (
    StoredSummary,
    count_unreadable_summaries,
    documents_named,
    load_summaries,
)
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.organization_deletion import delete_organization
from backend.storage.outbox import entries
from backend.storage.processes.leases import take_lease
from backend.system.clock import utc_now
from tests.facts.click_summaries import Sums, all_visitors, counted_one_by_one, in_summaries
from tests.facts.clicks import click, recorded_clicks, ship
from tests.facts.feeds import place_all, read_all
from tests.facts.organizations import TestOrganization, create_test_organization
from tests.fresh_database import fresh_database
from tests.polling import wait_for_async
from tests.processes.forked.service import FORK_SERVER
from tests.storage.clicks.summing_process import add_up

AT = datetime(2026, 3, 1, tzinfo=UTC)
DAYS = 40
# The first moment at which that day is over by so many days.
DUE = AT + timedelta(days=DAYS + 1)
LINKS = [LinkId(str(uuid.uuid4())) for _ in range(3)]


@pytest.fixture
async def org_id(database: Database, organization: TestOrganization) -> OrgId:
    """An organization that keeps single clicks for DAYS days."""
    await set_click_days(database, organization.id, DAYS)
    return organization.id


def some_clicks(org_id: OrgId, number: int, seed: int = 0, at: datetime = AT) -> list[Click]:
    """Clicks of that day, by few visitors, so that many are alike."""
    chance = random.Random(seed)
    return [
        click(
            org_id,
            chance.choice(LINKS),
            at + timedelta(milliseconds=chance.randrange(DAY_MS)),
            reason=chance.choice([None, None, "crawler"]),
            country=chance.choice([None, "DE", "FR"]),
            visitor=chance.choice([None, 1, 2, 3, 2**32 - 1]),
        )
        for _ in range(number)
    ]


async def summaries(database: Database, org_id: OrgId) -> list[StoredSummary]:
    """All summaries of the organization."""
    return [summary async for summary in load_summaries(database, org_id)]


async def columns(database: Database, org_id: OrgId) -> list[click_summary.SummaryColumns]:
    """The same, unpacked."""
    cursor = database[click_summaries.NAME].find({"org_id": org_id})
    return [click_summary.unpack(document["packed"]) async for document in cursor]


async def summed(database: Database, org_id: OrgId) -> Sums:
    """What the summaries have together, of one day."""
    return in_summaries(await columns(database, org_id))


async def facts(database: Database, org_id: OrgId) -> list[Fact]:
    """What the feed tells of summaries, in its order."""
    await place_all(database, org_id)
    cursor = database[entries.NAME].find({"org_id": org_id, "facts.type": SUMMARY}).sort("place", 1)
    return [fact async for entry in cursor for fact in entry["facts"]]


async def requests(database: Database, org_id: OrgId) -> int:
    """How many requests blocks and summaries have together, as of one moment."""
    async with await database.client.start_session(snapshot=True) as session:
        return sum(
            [
                document["clicks"]
                for name in (click_blocks.NAME, click_summaries.NAME)
                async for document in database[name].find({"org_id": org_id}, session=session)
            ]
        )


async def test_a_day_is_added_up(database: Database, org_id: OrgId) -> None:
    """Its blocks go, and the summary has every request and visitor of them; the feed names both."""
    clicks = some_clicks(org_id, 500)
    await ship(database, clicks[:200], "first" + org_id)
    await ship(database, clicks[200:], "other" + org_id)
    assert await sum_expired(database, org_id, DUE) == 500
    assert await recorded_clicks(database, org_id) == []
    assert await summed(database, org_id) == counted_one_by_one(clicks)
    assert all_visitors(await columns(database, org_id)) == 4
    [summary] = await summaries(database, org_id)
    assert (summary.day, summary.clicks) == ((AT - datetime(1970, 1, 1, tzinfo=UTC)).days, 500)
    [fact] = await facts(database, org_id)
    blocks = {f"{log}{org_id}/0/2026-03-01" for log in ("first", "other")}
    assert fact | {"blocks": set(fact["blocks"])} == {
        "type": SUMMARY,
        "day": summary.day,
        "summaries": [summary.id],
        "blocks": blocks,
    }
    [named] = [summary async for summary in documents_named(database, org_id, fact["summaries"])]
    assert named == summary


async def test_not_before_its_time(database: Database, org_id: OrgId) -> None:
    """A day stays whole until its last moment is so old; without a limit it stays for good."""
    clicks = [*some_clicks(org_id, 5), *some_clicks(org_id, 5, at=AT + timedelta(days=1))]
    await ship(database, clicks)
    assert await sum_expired(database, org_id, DUE - timedelta(microseconds=1)) == 0
    await set_click_days(database, org_id, None)
    assert await sum_expired(database, org_id, DUE + timedelta(days=9_999)) == 0
    await set_click_days(database, org_id, DAYS)
    assert await sum_expired(database, org_id, DUE) == 5
    assert len(await recorded_clicks(database, org_id)) == 5
    assert await sum_expired(database, org_id, DUE + timedelta(days=1)) == 5
    assert [summary.clicks for summary in await summaries(database, org_id)] == [5, 5]


async def test_merged_blocks(database: Database, org_id: OrgId) -> None:
    """Readers know blocks by the ids under which they were stored first; the feed names those."""
    clicks = some_clicks(org_id, 4)
    for number, single in enumerate(clicks):
        await ship(database, [single], "log" + org_id, number, number + 1)
    assert await merge_small_blocks(database, org_id) == 3
    assert await sum_expired(database, org_id, DUE) == 4
    [fact] = await facts(database, org_id)
    assert sorted(fact["blocks"]) == [f"log{org_id}/{number}/2026-03-01" for number in range(4)]


async def test_a_large_day(database: Database, org_id: OrgId) -> None:
    """It is added up in parts of whole blocks, in which a visitor has the same number."""
    clicks = some_clicks(org_id, 300)
    for number in range(10):
        await ship(database, clicks[number::10], "log" + org_id, number, number + 1)
    assert await sum_expired(database, org_id, DUE, Bounds(clicks=100, blocks=2)) == 300
    assert await summed(database, org_id) == counted_one_by_one(clicks)
    assert all_visitors(await columns(database, org_id)) == 4
    summary_facts = await facts(database, org_id)
    assert [len(fact["blocks"]) for fact in summary_facts] == [2] * 5
    assert len({name for fact in summary_facts for name in fact["blocks"]}) == 10
    assert {name for fact in summary_facts for name in fact["summaries"]} == {
        summary.id for summary in await summaries(database, org_id)
    }


async def test_blocks_beyond_the_bounds(database: Database, org_id: OrgId) -> None:
    """One that has more clicks than a transaction should add up is added up alone."""
    await ship(database, some_clicks(org_id, 50))
    await ship(database, some_clicks(org_id, 50))
    assert await sum_expired(database, org_id, DUE, Bounds(clicks=10)) == 100
    assert [summary.clicks for summary in await summaries(database, org_id)] == [50, 50]


async def test_a_block_that_comes_late(database: Database, org_id: OrgId) -> None:
    """The next round adds it up into a further summary, in which visitors have the same numbers."""
    clicks = some_clicks(org_id, 100)
    await ship(database, clicks[:60])
    await sum_expired(database, org_id, DUE)
    first = await facts(database, org_id)
    await ship(database, clicks[60:])
    assert await sum_expired(database, org_id, DUE) == 40
    assert await summed(database, org_id) == counted_one_by_one(clicks)
    assert len(await summaries(database, org_id)) == 2
    summary_facts = await facts(database, org_id)
    assert summary_facts[:1] == first
    assert len(summary_facts) == 2


async def test_once_the_key_is_gone(database: Database, org_id: OrgId) -> None:
    """Nobody can find a hash from its number: what comes then has visitors of its own."""
    clicks = [click(org_id, LINKS[0], AT, visitor=7)]
    await ship(database, clicks)
    await sum_expired(database, org_id, DUE)
    gone = await database[address_keys.NAME].delete_one({"_id": "sums/2026-03-01"})
    assert gone.deleted_count == 1
    await ship(database, clicks)
    await sum_expired(database, org_id, DUE)
    assert all_visitors(await columns(database, org_id)) == 2


async def test_twice_at_once(database: Database, org_id: OrgId) -> None:
    """Whoever else is at it, each click is added up once, and at each moment it is there once."""
    clicks = some_clicks(org_id, 200)
    for number in range(20):
        await ship(database, clicks[number::20], "log" + org_id, number, number + 1)
    seen: set[int] = set()
    is_over = False

    async def look() -> None:
        while not is_over:
            seen.add(await requests(database, org_id))

    looking = asyncio.create_task(look())
    work = (sum_expired(database, org_id, DUE, Bounds(blocks=3)) for _ in range(3))
    done = await asyncio.gather(*work, merge_small_blocks(database, org_id), return_exceptions=True)
    is_over = True
    await looking
    assert sum(number for number in done[:3] if isinstance(number, int)) <= 200
    await sum_expired(database, org_id, DUE)
    assert await summed(database, org_id) == counted_one_by_one(clicks)
    assert seen == {200}
    summed_blocks: Counter[str] = Counter(
        name for fact in await facts(database, org_id) for name in fact["blocks"]
    )
    assert set(summed_blocks.values()) == {1}
    assert len(summed_blocks) == 20


async def test_killed_at_any_moment(database: Database, settings: Settings, org_id: OrgId) -> None:
    """Whenever the process dies, each click is there once; another one goes on, and all are added up."""
    clicks = some_clicks(org_id, 60)
    for number in range(20):
        await ship(database, clicks[number::20], "log" + org_id, number, number + 1)
    kills = 0
    while await recorded_clicks(database, org_id):
        told, telling = FORK_SERVER.Pipe(duplex=False)
        place = (settings.mongodb_uri, settings.mongodb_database, org_id)
        process = FORK_SERVER.Process(target=add_up, args=(*place, telling))
        process.start()
        telling.close()
        with told:
            assert await asyncio.to_thread(told.recv) == "begins"
        await asyncio.sleep(0.01 * 2**kills)
        kills += process.is_alive()
        process.kill()
        await asyncio.to_thread(process.join)
        assert await requests(database, org_id) == 60
    assert kills > 1
    assert await summed(database, org_id) == counted_one_by_one(clicks)
    summed_blocks: Counter[str] = Counter(
        name for fact in await facts(database, org_id) for name in fact["blocks"]
    )
    assert (len(summed_blocks), set(summed_blocks.values())) == (20, {1})


async def test_a_block_that_is_changed_meanwhile(database: Database, org_id: OrgId) -> None:
    """What was read of it before is not stored: the clicks are those that the next round finds."""
    await ship(database, some_clicks(org_id, 30))
    part = await expired_days._next_batch(database, org_id, DUE, Bounds())
    assert part
    remaining = some_clicks(org_id, 20, seed=1)
    changed = {"$set": click_blocks.fields_of(block_of(org_id, remaining))}
    await database[click_blocks.NAME].update_one({"org_id": org_id}, changed)
    with pytest.raises(click_blocks.BlocksChanged):
        await expired_days._replace(database, org_id, part)
    assert await summaries(database, org_id) == []
    assert await sum_expired(database, org_id, DUE) == 20
    assert await summed(database, org_id) == counted_one_by_one(remaining)


async def test_what_can_not_be_read(database: Database, org_id: OrgId) -> None:
    """A damaged block stays, and is told of; the others of its day are added up."""
    clicks = some_clicks(org_id, 30)
    await ship(database, clicks[:10], "log" + org_id)
    await ship(database, clicks[10:])
    damaged = {"_id": f"{org_id}/log{org_id}/0/2026-03-01"}
    await database[click_blocks.NAME].update_one(damaged, {"$set": {"packed": b"\x01damaged"}})
    assert await sum_expired(database, org_id, DUE) == 20
    assert await sum_expired(database, org_id, DUE) == 0
    [block] = await database[click_blocks.NAME].find({"org_id": org_id}).to_list(None)
    assert block["is_unreadable"]
    assert await summed(database, org_id) == counted_one_by_one(clicks[10:])
    await database[click_blocks.NAME].delete_many({"org_id": org_id})


async def test_a_damaged_summary(database: Database, settings: Settings, org_id: OrgId) -> None:
    """Whoever reads it marks it, and goes on with the others; `waylink doctor` tells of it."""
    for day in (0, 1):
        await ship(database, some_clicks(org_id, 5, at=AT + timedelta(days=day)))
    await sum_expired(database, org_id, DUE + timedelta(days=1))
    first, other = await summaries(database, org_id)
    this = {"_id": f"{org_id}/{first.id}"}
    await database[click_summaries.NAME].update_one(this, {"$set": {"packed": b"\x81damaged"}})
    before = await count_unreadable_summaries(database)
    assert [summary async for summary in documents_named(database, org_id, [first.id, other.id])] == [other]
    assert await count_unreadable_summaries(database) == before + 1
    assert await summaries(database, org_id) == [other]
    messages = [finding.message async for finding in examine_storage(database, settings, utc_now)]
    assert any(
        "summaries of days whose single clicks have expired can't be read" in message for message in messages
    )
    await database[click_summaries.NAME].delete_many({"org_id": org_id})


async def test_it_is_no_event(database: Database, org_id: OrgId) -> None:
    """That clicks happened was told before: followers read nothing new, and keep what they have read."""
    await ship(database, some_clicks(org_id, 3))
    before = await read_all(database, org_id)
    await sum_expired(database, org_id, DUE)
    assert len(before) == 3
    assert await read_all(database, org_id) == []


async def test_a_deleted_organization(database: Database, org_id: OrgId) -> None:
    """Nothing of one is added up any more, and its summaries go with it."""
    await ship(database, some_clicks(org_id, 5))
    await sum_expired(database, org_id, DUE)
    await ship(database, some_clicks(org_id, 5))
    deleted = await delete_organization(database, org_id, datetime.now(UTC))
    assert deleted[click_summaries.NAME] == 1
    await ship(database, some_clicks(org_id, 5))
    assert await sum_expired(database, org_id, DUE) == 0
    assert await summaries(database, org_id) == []


async def test_an_organization_that_is_being_restored(database: Database) -> None:
    """Its clicks come before the organization itself, which may keep them without limit: they stay."""
    async with fresh_database(database) as fresh:
        restored = await create_test_organization(fresh)
        await ship(fresh, some_clicks(restored.id, 5))
        await fresh[organizations.NAME].delete_one({"_id": restored.id})
        assert await sum_expired(fresh, restored.id, AT + timedelta(days=CLICK_DAYS + 2)) == 0
        assert len(await recorded_clicks(fresh, restored.id)) == 5


async def test_all_organizations(database: Database) -> None:
    """Each by its own days."""
    async with fresh_database(database) as fresh:
        short, long = await create_test_organization(fresh), await create_test_organization(fresh)
        await set_click_days(fresh, short.id, DAYS)
        await set_click_days(fresh, long.id, None)
        for organization in (short, long):
            await ship(fresh, some_clicks(organization.id, 5))
        assert await sum_all(fresh, DUE) == 5
        counts = [len(await recorded_clicks(fresh, organization.id)) for organization in (short, long)]
    assert counts == [0, 5]


async def test_in_the_background(database: Database) -> None:
    """A service adds up what is due; within the hour, no other one looks again."""
    async with fresh_database(database) as fresh:
        org_id = (await create_test_organization(fresh)).id
        await ship(fresh, some_clicks(org_id, 5))
        await set_click_days(fresh, org_id, DAYS)
        task = expired_days.expired_days(fresh)
        await task.start()
        assert await wait_for_async(partial(summaries, fresh, org_id), "nothing is added up")
        await task.stop()
        assert not await take_lease(fresh, expired_days.LEASE, "another", timedelta(hours=1))
