"""Blocks folded into rollups: each click once, in totals and in every breakdown."""

from __future__ import annotations

import asyncio
import uuid
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.app import Service
from backend.clock import utc_now
from backend.doctor.storage import examine_storage
from backend.domain.clicks import Click, NotCounted
from backend.domain.destination import Outcome
from backend.domain.ids import LinkId, OrgId
from backend.domain.rollup import Dimension, value_of
from backend.settings import Settings
from backend.storage import (
    click_blocks,
    click_counts,
    folding,
    organization_counts,
    restores,
    transaction_pace,
)
from backend.storage.click_folds import Busy
from backend.storage.click_logs import AlreadyShipped
from backend.storage.click_merges import merge_small_blocks, organizations_with_small_blocks
from backend.storage.folding import Folds
from backend.storage.mongo import Database, in_transaction
from backend.storage.restores import insert_history
from backend.storage.rollups import Rollups, seconds_in
from backend.storage.unfolded_clicks import has_uncounted_clicks, waiting_clicks
from backend.storage.visitor_sketches import count_visitors
from tests.clicks import click, defer, fold, recorded_clicks, ship
from tests.fresh_database import fresh_database

START = datetime(2026, 2, 27, 22, tzinfo=UTC)
FACTS = st.fixed_dictionaries(
    {
        "reason": st.none() | st.none() | st.sampled_from([each.value for each in NotCounted]),
        "outcome": st.sampled_from(Outcome),
        "platform": st.sampled_from(["ios", "desktop"]),
        "system": st.sampled_from(["", "iOS", "Windows 11.2"]),
        "browser": st.sampled_from(["", "$Chrome", "a.b%c"]),
        "country": st.none() | st.sampled_from(["DE", "FR"]),
        "visitor": st.none() | st.integers(0, 5),
        "referrer_host": st.none() | st.sampled_from(["t.co", "news.example", "xn--bcher-kva.example"]),
    }
)
CLICKS = st.tuples(
    st.integers(0, 4), st.integers(0, 4 * 3600).map(lambda s: START + timedelta(seconds=s)), FACTS
)


@pytest.fixture(scope="module")
async def database(service: Service) -> AsyncIterator[Database]:
    """A database of this file's own: what it damages is met by nobody else."""
    async with fresh_database(service.resources.database) as fresh:
        yield fresh


def new_org() -> OrgId:
    """The id of an organization without clicks."""
    return OrgId(str(uuid.uuid4()))


def counts_one_by_one(clicks: Iterable[Click]) -> dict[str, Counter[Any]]:
    """What the rollups of these clicks should say, by looking at each."""
    found: dict[str, Counter[Any]] = {"quarters": Counter(), "hours": Counter(), "total": Counter()}
    found |= {dimension: Counter() for dimension in Dimension}
    visitors: defaultdict[date, set[int | None]] = defaultdict(set)
    for each in clicks:
        day = each.at.date()
        found["outcome"][day, each.outcome.value] += 1
        if not each.counted:
            found["reason"][day, each.reason] += 1
            continue
        found["total"]["all"] += 1
        found["hours"][day, each.at.hour] += 1
        found["quarters"][day, each.at.hour * 4 + each.at.minute // 15] += 1
        for name in ("platform", "system", "browser", "country"):
            found[name][day, getattr(each, name)] += 1
        found["referrer"][day, each.referrer_host] += 1
        if each.variant is not None:
            found["variant"][day, each.variant] += 1
        visitors[day].add(each.visitor)
    found["visitors"] = Counter({day: len(seen - {None}) for day, seen in visitors.items() if seen - {None}})
    return found


async def counts_stored(database: Database, rollups: Rollups, subject: str) -> dict[str, Counter[Any]]:
    """What the rollups say."""
    found: dict[str, Counter[Any]] = {"quarters": Counter(), "hours": Counter(), "total": Counter()}
    found |= {name: Counter() for name in ("visitors", *Dimension)}
    async for document in database[rollups.collection].find({"_id": {"$regex": f"^{subject}/"}}):
        bucket = document["_id"].removeprefix(f"{subject}/")
        if bucket == "total":
            found["total"].update(document["parts"])
        if bucket.startswith("day/"):
            day = datetime.fromisoformat(bucket.removeprefix("day/")).date()
            for name, field_name in (("hours", "parts"), ("quarters", "quarters")):
                found[name].update({(day, int(each)): n for each, n in document.get(field_name, {}).items()})
            if "visitors" in document:
                found["visitors"][day] = count_visitors(document["visitors"])
            for dimension in Dimension:
                found[dimension].update(
                    {(day, value_of(each)): n for each, n in document.get(dimension, {}).items()}
                )
            assert len(seconds_in(document.get("seconds", b""))) == sum(document.get("parts", {}).values())
    return found


async def assert_counted_once(database: Database, org_id: OrgId, clicks: list[Click]) -> None:
    """Fail unless the rollups equal a naive count, of each link and of the organization, and blocks do."""
    for link_id in {each.link_id for each in clicks}:
        expected = counts_one_by_one(each for each in clicks if each.link_id == link_id)
        assert await counts_stored(database, click_counts.ROLLUPS, link_id) == expected
    stored = await counts_stored(database, organization_counts.ROLLUPS, org_id)
    assert stored == counts_one_by_one(clicks)
    recorded = await recorded_clicks(database, org_id)
    assert sorted(map(repr, recorded)) == sorted(map(repr, clicks))


class Killed(Exception):
    """Stands for the end of the process."""


@contextmanager
def killed_after(transactions: int, *, is_done: bool) -> Iterator[None]:
    """What folds ends after so many more transactions, or in the next one."""
    left = transactions

    async def count_down(database: Database, work: Any) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise Killed
        if left or is_done:
            await in_transaction(database, work)
            return

        async def work_and_end(session: Any) -> None:
            await work(session)
            raise Killed

        await in_transaction(database, work_and_end)

    patched = pytest.MonkeyPatch()
    for module in (folding, transaction_pace):
        patched.setattr(module, "in_transaction", count_down)
    try:
        yield
    finally:
        patched.undo()


@dataclass
class Ledger:
    """Clicks in stretches of a log, which are shipped and folded in any order, as often as told."""

    database: Database
    stretches: list[list[Click]]
    org_id: OrgId
    log_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    position: int = 0

    async def ship_next(self) -> None:
        """Ship the next stretch."""
        if self.position < len(self.stretches):
            at = self.position
            await ship(self.database, self.stretches[at], self.log_id, at, at + 1)
            self.position += 1

    async def ship_again(self) -> None:
        """Ship a stretch that was shipped before."""
        if self.position:
            at = self.position - 1
            with pytest.raises(AlreadyShipped):
                await ship(self.database, self.stretches[at], self.log_id, at, at + 1)

    async def fold_some(
        self, links_at_once: int, most_clicks: int, merges: bool, killed: tuple[int, bool]
    ) -> None:
        """Fold a part of what waits; the process may end while it does."""
        with killed_after(killed[0], is_done=killed[1]), suppress(Killed):
            await Folds(self.database, links_at_once).fold([self.org_id], most_clicks, merges=merges)

    async def merge(self) -> None:
        """Merge the blocks that are folded."""
        with suppress(Busy):  # a fold is open
            await merge_small_blocks(self.database, self.org_id)


STEPS = st.lists(
    st.sampled_from(["ship_next", "ship_next", "ship_again", "merge"])
    | st.tuples(
        st.integers(1, 3), st.integers(1, 9), st.booleans(), st.tuples(st.integers(0, 5), st.booleans())
    ),
    max_size=8,
)


@settings(max_examples=60)
@given(stretches=st.lists(st.lists(CLICKS, max_size=8), max_size=4), steps=STEPS)
async def test_rollups_equal_a_naive_count(
    database: Database, stretches: list[Any], steps: list[Any]
) -> None:
    """For any clicks, any split, order and repetition of shipping, folding, merging, and ends in between."""
    org_id = new_org()
    links = [LinkId(str(uuid.uuid4())) for _ in range(5)]
    made = [[click(org_id, links[link], at, **facts) for link, at, facts in stretch] for stretch in stretches]
    ledger = Ledger(database, made, org_id)
    for step in steps:
        await (getattr(ledger, step)() if isinstance(step, str) else ledger.fold_some(*step))
    for _ in made:
        await ledger.ship_next()
    await fold(database, [org_id])
    await ledger.merge()
    await assert_counted_once(database, org_id, [each for stretch in made for each in stretch])
    assert org_id not in await waiting_clicks(database)


def some_clicks(org_id: OrgId, links: int = 20) -> list[Click]:
    """A few clicks on each of so many links."""
    ids = [LinkId(str(uuid.uuid4())) for _ in range(links)]
    return [click(org_id, link_id, START + timedelta(minutes=n)) for link_id in ids for n in range(3)]


async def test_two_folders_at_once(database: Database) -> None:
    """Of two that fold or merge the same, one waits; each click counts once."""
    org_id = new_org()
    clicks = some_clicks(org_id)
    folders = [Folds(database, links_at_once=links) for links in (1000, 1, 1000, 1)]

    async def fold_all(folds: Folds) -> int:
        busy = 0
        while True:
            try:
                folded = await folds.fold([org_id], most_clicks=7)
            except Busy:
                busy += 1
            else:
                if folded.is_done:
                    return busy

    for at in range(0, len(clicks), 6):
        await ship(database, clicks[at : at + 6])
    busy = await asyncio.gather(*map(fold_all, folders))
    assert sum(busy) > 0
    await assert_counted_once(database, org_id, clicks)


async def test_clicks_that_wait_are_known_by_link(database: Database) -> None:
    """Stored or in an open fold, until all are counted; not requests that don't count, nor other links."""
    org_id = new_org()
    clicks = some_clicks(org_id, links=3)
    unclicked, crawled = (LinkId(str(uuid.uuid4())) for _ in range(2))
    await ship(database, [*clicks, click(org_id, crawled, START, reason=NotCounted.CRAWLER.value)])
    first = min(each.link_id for each in clicks)
    assert await has_uncounted_clicks(database, org_id, first)
    assert not await has_uncounted_clicks(database, org_id, unclicked)
    assert not await has_uncounted_clicks(database, org_id, crawled)
    assert not await has_uncounted_clicks(database, new_org(), first)
    await fold(database, [org_id])
    assert not await has_uncounted_clicks(database, org_id, first)


async def test_organizations_are_folded_together(database: Database) -> None:
    """Blocks of several organizations are counted by one fold, each for its own."""
    clicks = {(org_id := new_org()): some_clicks(org_id, 2) for _ in range(5)}
    await ship(database, [each for made in clicks.values() for each in made])
    folded = await Folds(database).fold(clicks)
    assert (folded.clicks, folded.is_all) == (5 * 6, True)
    for org_id, made in clicks.items():
        await assert_counted_once(database, org_id, made)


async def test_a_block_that_can_not_be_read(database: Database) -> None:
    """It is marked and kept; the others are counted, and the next fold does not meet it again."""
    org_id = new_org()
    clicks = some_clicks(org_id, 2)
    await ship(database, clicks[:1])
    await database[click_blocks.NAME].update_one({"org_id": org_id}, {"$set": {"packed": b"\x01damaged"}})
    await ship(database, clicks[1:])
    folded = await Folds(database).fold([org_id])
    assert (folded.clicks, folded.unreadable, folded.is_all) == (len(clicks) - 1, 1, True)
    assert (await Folds(database).fold([org_id])).unreadable == 0
    [damaged] = (
        await database[click_blocks.NAME].find({"org_id": org_id, "is_unreadable": True}).to_list(None)
    )
    assert "expires_at" not in damaged
    findings = [each async for each in examine_storage(database, Settings(), utc_now)]
    assert any("blocks of clicks can't be read" in each.message for each in findings)


async def test_clicks_that_were_counted_before(database: Database) -> None:
    """Only what earlier counts lack is added: what clicks were, quarters, and the organization's counts."""
    org_id = new_org()
    clicks = some_clicks(org_id, 1)
    await ship(database, clicks)
    await database[click_blocks.NAME].update_many({"org_id": org_id}, {"$set": {"counted_before": True}})
    await defer(database, org_id)
    values = await click_counts.count_values(database, clicks[0].link_id, org_id, START, 2)
    assert (values[Dimension.OUTCOME].total(), values[Dimension.PLATFORM]["desktop"]) == (3, 3)
    assert await click_counts.count_totals(database, org_id, [clicks[0].link_id]) == {}
    await fold(database, [org_id])
    expected = counts_one_by_one(clicks)
    stored = await counts_stored(database, organization_counts.ROLLUPS, org_id)
    assert stored == expected
    stored = await counts_stored(database, click_counts.ROLLUPS, clicks[0].link_id)
    assert stored == expected | {"total": Counter(), "hours": Counter()}


async def test_small_blocks_are_merged(database: Database) -> None:
    """A day's single clicks end up in one block; another day, and what waits to be folded, stay apart."""
    org_id, link_id = new_org(), LinkId(str(uuid.uuid4()))
    now = datetime.now(UTC).replace(microsecond=0)
    clicks = [click(org_id, link_id, now - timedelta(days=n % 2)) for n in range(20)]
    for each in clicks:
        await ship(database, [each])
    await fold(database, [org_id])
    await ship(database, [click(org_id, link_id, now)])
    assert await merge_small_blocks(database, org_id) == 18
    found = await database[click_blocks.NAME].find({"org_id": org_id}).to_list(None)
    assert sorted((each["clicks"], each["folded"]) for each in found) == [(1, False), (10, True), (10, True)]
    await fold(database, [org_id])
    await assert_counted_once(database, org_id, [*clicks, click(org_id, link_id, now)])


async def test_small_blocks_that_can_not_be_read_any_more(database: Database) -> None:
    """A damaged block stays as it is and is not met again; the others of its day are merged."""
    org_id = new_org()
    for each in some_clicks(org_id, 1):
        await ship(database, [each])
    await fold(database, [org_id])
    blocks = database[click_blocks.NAME]
    await blocks.update_one({"org_id": org_id}, {"$set": {"packed": b"\x01damaged"}})
    await merge_small_blocks(database, org_id)
    await merge_small_blocks(database, org_id)
    packed = [bytes(each["packed"]) async for each in blocks.find({"org_id": org_id})]
    assert len(packed) == 2
    assert b"\x01damaged" in packed
    assert org_id not in await organizations_with_small_blocks(database)


async def test_what_is_being_restored_stays_as_it_is(database: Database) -> None:
    """No block is counted or merged before all are there: the restore may store what it stored once again."""
    org_id = new_org()
    clicks = some_clicks(org_id, 1)
    for each in clicks:
        await ship(database, [each])
    whole = await database[click_blocks.NAME].find({"org_id": org_id}).to_list(None)
    await database[click_blocks.NAME].delete_many({"org_id": org_id})

    async def store(position: int) -> None:
        await insert_history(
            database, click_blocks.NAME, whole, org_id=org_id, fingerprint="some", position=position
        )

    await database[restores.NAME].insert_one({"_id": org_id, "fingerprint": "some", "position": 0})
    try:
        await store(1)
        assert org_id not in await waiting_clicks(database)
        assert org_id not in await organizations_with_small_blocks(database)
        await store(2)
    finally:
        await database[restores.NAME].delete_one({"_id": org_id})
    assert await waiting_clicks(database) | {org_id: len(clicks)} == await waiting_clicks(database)
    assert org_id in await organizations_with_small_blocks(database)
    await fold(database, [org_id])
    await assert_counted_once(database, org_id, clicks)
