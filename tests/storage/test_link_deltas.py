"""Clicks on many links: counted at once for everybody, and merged into the documents of links later."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from backend.app import Service
from backend.clock import utc_now
from backend.doctor.storage import examine_storage
from backend.domain import rollup
from backend.domain.clicks import Click, NotCounted
from backend.domain.ids import LinkId, OrgId
from backend.domain.rollup import Dimension
from backend.settings import Settings
from backend.storage import (
    click_blocks,
    click_counts,
    folding,
    link_deltas,
    link_merges,
    transaction_pace,
)
from backend.storage.analytics_answers import clicks_of_links
from backend.storage.click_counts import count_recent, count_totals, count_values
from backend.storage.day_counts import DayPart, read_day_counts
from backend.storage.folding import Folds
from backend.storage.latest_clicks import latest_clicks
from backend.storage.link_merges import all_unmerged_clicks
from backend.storage.mongo import Database
from backend.storage.visitor_sketches import unite_sketches
from tests.clicks import click, defer, fold, ship
from tests.fresh_database import fresh_database
from tests.storage.test_click_folds import assert_counted_once, new_org, some_clicks

NOW = datetime.now(UTC).replace(microsecond=0)
# On this day, on the ones before, at both ends of the windows, and out of them.
AGES = [
    *(timedelta(hours=hours, minutes=7) for hours in (0, 1, 23, 24, 49)),
    *(timedelta(days=days, seconds=seconds) for days in (7, 30) for seconds in (-61, -1, 0, 1, 3601)),
    timedelta(days=90),
]
TODAY = int(NOW.timestamp()) // rollup.DAY_SECONDS
DAYS = range(TODAY - 40, TODAY + 1)
REASONS = [None, None, NotCounted.CRAWLER.value]


@pytest.fixture(scope="module")
async def database(service: Service) -> AsyncIterator[Database]:
    """A database of this file's own: what it damages is met by nobody else."""
    async with fresh_database(service.resources.database) as fresh:
        yield fresh


def clicks_of_all_kinds(org_id: OrgId, links: list[LinkId]) -> list[Click]:
    """Clicks on each of the links at all AGES, of which no two are of the same kind."""
    return [
        click(
            org_id,
            link_id,
            NOW - age,
            visitor=(number + at) % 7,
            country=("DE", None)[at % 2],
            referrer_host=f"site-{number}.example",
            reason=REASONS[(number + at) % 3],
        )
        for number, link_id in enumerate(links)
        for at, age in enumerate(AGES)
    ]


async def told(database: Database, org_id: OrgId, link_id: LinkId) -> dict[str, Any]:
    """What everybody is told who asks for the clicks on a link."""
    latest = await latest_clicks(database, org_id, link_id, NOW)
    return {
        "window": await click_counts.count_window(database, org_id, link_id, NOW),
        "total": await count_totals(database, org_id, [link_id]),
        "values": await count_values(database, link_id, org_id, NOW, 30),
        "latest": sorted(map(repr, latest.clicks)),
    }


async def told_of_all(database: Database, org_id: OrgId, links: list[LinkId]) -> dict[str, Any]:
    """What everybody is told who asks for the clicks on all links."""
    return {
        "windows": await click_counts.count_windows(database, org_id, links, NOW),
        "sums": await clicks_of_links(database, org_id, DAYS),
        "recent": [await count_recent(database, org_id, NOW, days) for days in (7, 30)],
        "some": await days_of(database, org_id, links[:2]),
        "all": await days_of(database, org_id, None),
    }


async def days_of(database: Database, org_id: OrgId, subjects: list[LinkId] | None) -> dict[Any, Any]:
    """What is read by day: clicks, visitors, and values of some dimensions."""
    parts = [*DayPart, Dimension.COUNTRY, Dimension.REASON]
    found: dict[Any, Any] = {}
    last = 0
    async for counts in read_day_counts_of(database, org_id, DAYS, parts, subjects):
        for each in counts:
            assert each.day >= last  # so that sketches of a day can be united
            last = each.day
            entry = found.setdefault((each.subject, each.day), {"clicks": 0, "visitors": []})
            entry["clicks"] += each.clicks
            entry["visitors"] += [each.visitors] if each.visitors else []
            for dimension, values in each.values.items():
                for value, count in values.items():
                    entry[dimension, value] = entry.get((dimension, value), 0) + count
    for entry in found.values():
        entry["visitors"] = unite_sketches(map(bytes, entry["visitors"]))
    return found


async def read_day_counts_of(
    database: Database, org_id: OrgId, days: range, parts: list[Any], subjects: list[LinkId] | None
) -> AsyncIterator[Any]:
    """The counts as analytics read them."""
    async with link_deltas.with_deltas(database, {"org_id": org_id}) as (session, deltas):
        async for counts in read_day_counts(
            database,
            click_counts.NAME,
            org_id,
            days,
            parts,
            subjects=subjects,
            deltas=deltas,
            session=session,
        ):
            yield counts


async def test_who_reads_is_told_the_same_before_and_after_a_merge(database: Database) -> None:
    """No figure differs, whether a part of the clicks waits or all are in the documents of their links."""
    org_id = new_org()
    links = [LinkId(str(uuid.uuid4())) for _ in range(3)]
    clicks = clicks_of_all_kinds(org_id, links)
    await ship(database, clicks[::2])
    await fold(database, [org_id])
    await ship(database, clicks[1::2])
    await defer(database, org_id)
    assert org_id in await all_unmerged_clicks(database)
    before = [await told(database, org_id, each) for each in links]
    all_before = await told_of_all(database, org_id, links)
    await fold(database, [org_id])
    assert await database[link_deltas.NAME].count_documents({"org_id": org_id}) == 0
    assert before == [await told(database, org_id, each) for each in links]
    assert all_before == await told_of_all(database, org_id, links)
    await assert_counted_once(database, org_id, clicks)


async def test_nobody_reads_what_waits_of_others(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else each page of links would wait for the clicks of the busiest organization of all."""
    unpacked: list[str] = []

    def noted(delta: link_deltas.Delta, link_ids: set[LinkId] | None) -> list[Any]:
        unpacked.append(delta.org_id)
        return []

    monkeypatch.setattr(link_deltas, "documents_of_links", noted)
    monkeypatch.setattr(link_deltas, "part_of", lambda _: 0)
    monkeypatch.setattr(rollup, "part_of", lambda _: 0)
    own, other = new_org(), new_org()
    links = {each: LinkId(str(uuid.uuid4())) for each in (own, other)}
    for org_id, link_id in links.items():
        await ship(database, [click(org_id, link_id, NOW)])
        await defer(database, org_id)
    await click_counts.count_window(database, own, links[own], NOW)
    await click_counts.count_windows(database, own, [links[own]], NOW)
    await count_values(database, links[own], own, NOW, 30)
    await latest_clicks(database, own, links[own], NOW)
    assert unpacked == [own] * 4
    assert await count_totals(database, own, links.values()) == {links[own]: 1}
    await fold(database, [own, other])


async def test_clicks_that_a_former_version_counted(database: Database) -> None:
    """Those whose hours it counted count once by day, also while what else is known of them waits."""
    org_id, link_id = new_org(), LinkId(str(uuid.uuid4()))
    await ship(database, [click(org_id, link_id, NOW)] * 3)
    await fold(database, [org_id])
    of_link, of_org = {"link_id": link_id}, {"org_id": org_id}
    await database[click_counts.NAME].update_many(of_link, {"$unset": {"quarters": 1}})
    again = {"$set": {"folded": False, "counted_before": True}}
    await database[click_blocks.NAME].update_many(of_org, again)
    await defer(database, org_id)
    assert org_id in await all_unmerged_clicks(database)
    for subjects in (None, [link_id]):
        assert (await days_of(database, org_id, subjects))[link_id, TODAY]["clicks"] == 3
    await fold(database, [org_id])
    assert (await days_of(database, org_id, None))[link_id, TODAY]["clicks"] == 3


async def test_a_merge_while_somebody_reads(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has read what waits, and then reads what was merged meanwhile, counts no click twice."""
    org_id, link_id = new_org(), LinkId(str(uuid.uuid4()))
    read = link_deltas.read_deltas

    async def read_and_merge(database: Database, wanted: Any, session: Any) -> Any:
        found = await read(database, wanted, session)
        await fold(database, [org_id])
        return found

    monkeypatch.setattr(link_deltas, "read_deltas", read_and_merge)
    readers: list[Callable[[], Awaitable[Any]]] = [
        lambda: count_totals(database, org_id, [link_id]),
        lambda: count_recent(database, org_id, NOW, 7),
        lambda: clicks_of_links(database, org_id, DAYS),
    ]
    for number, ask in enumerate(readers, start=1):
        await ship(database, [click(org_id, link_id, NOW)])
        await defer(database, org_id)
        assert await ask() == {link_id: number}
        assert org_id not in await all_unmerged_clicks(database)
    await ship(database, [click(org_id, link_id, NOW)])
    await defer(database, org_id)
    assert (await click_counts.count_window(database, org_id, link_id, NOW)).last_7_days == len(readers) + 1


async def test_clicks_that_can_not_be_read_hold_up_no_others(database: Database) -> None:
    """Readers and merges leave them out, they are kept with a mark, and `waylink doctor` tells of them."""
    org_id, link_id = new_org(), LinkId(str(uuid.uuid4()))
    for _ in range(2):
        await ship(database, [click(org_id, link_id, NOW)])
        await defer(database, org_id)
    deltas = database[link_deltas.NAME]
    await deltas.update_one({"org_id": org_id}, {"$set": {"packed": b"\x01damaged"}})

    async def counted() -> int:
        return (await click_counts.count_window(database, org_id, link_id, NOW)).last_7_days

    assert await counted() == 1
    assert (await Folds(database).fold([org_id])).is_done
    assert await counted() == 1
    [kept] = await deltas.find({"org_id": org_id}).to_list(None)
    assert kept["is_unreadable"]
    assert org_id not in await all_unmerged_clicks(database)
    findings = [each async for each in examine_storage(database, Settings(), utc_now)]
    assert any("1 clicks can't be read" in each.message for each in findings)
    await deltas.delete_many({"org_id": org_id})


async def test_many_clicks_on_each_link_need_no_merge(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fold writes documents that it adds many clicks to, or that are few, and leaves others to a merge."""
    monkeypatch.setattr(folding, "_FEW_LINKS", 1)
    for clicks, links, is_left in ((1, 1, False), (10, 2, False), (9, 2, True)):
        org_id = new_org()
        ids = [LinkId(str(uuid.uuid4())) for _ in range(links)]
        await ship(database, [click(org_id, each, NOW) for each in ids * clicks])
        folded = await Folds(database).fold([org_id], merges=False)
        assert folded.unmerged == ({org_id: clicks * links} if is_left else {})
        await fold(database, [org_id])


async def test_links_whose_counts_take_long_are_counted_in_smaller_parts(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A transaction that took long is followed by one with half as many links, and a quick one by more."""
    parts: list[int] = []
    gather, org_id = link_merges._gather, new_org()

    def noted(deltas: Any, *rest: Any) -> Any:  # once a merge, however often its transaction is tried
        merge = gather(deltas, *rest)
        if deltas[0].org_id == org_id:  # a service that runs in this process merges those of others
            parts.append(merge.links)
        return merge

    monkeypatch.setattr(link_merges, "_gather", noted)
    monkeypatch.setattr(link_deltas, "part_of", lambda _: 0)
    monkeypatch.setattr(rollup, "part_of", lambda _: 0)
    clicks = [some_clicks(org_id, links=4) for _ in range(7)]
    folds = Folds(database, links_at_once=16)
    monkeypatch.setattr(folding, "_FEW_LINKS", 2)
    monkeypatch.setattr(folding, "_MERGE_SECONDS", 60.0)  # all in one turn, also on a busy machine
    monkeypatch.setattr(transaction_pace, "_FEWEST", 2)
    for each in clicks:
        await ship(database, each)
        await folds.fold([org_id], merges=False)
    assert parts == []
    monkeypatch.setattr(transaction_pace, "_LONG", 0.0)
    await folds.fold([org_id])
    assert parts == [16, 8, 4]
    monkeypatch.setattr(transaction_pace, "_LONG", 60.0)
    for _ in range(4):
        clicks.append(some_clicks(org_id, links=4))
        await ship(database, clicks[-1])
        await folds.fold([org_id], merges=False)
    del parts[:]
    await folds.fold([org_id])
    assert parts == [4, 4, 8]
    await assert_counted_once(database, org_id, [each for some in clicks for each in some])
