"""Clicks that earlier versions stored, moved into blocks."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from backend.app import Service, create_app
from backend.domain.analytics_query import Field, Measure, Query
from backend.domain.clicks import Click, NotCounted
from backend.domain.ids import LinkId, OrgId
from backend.domain.links import Link
from backend.domain.query_period import QueryPeriod
from backend.domain.rollup import Dimension
from backend.settings import Settings
from backend.storage import click_counts, clicks, former_clicks
from backend.storage.analytics_answers import answer
from backend.storage.click_counts import count_values, count_window
from backend.storage.former_clicks import FormerClicks, count_former_clicks
from backend.storage.mongo import Database
from backend.storage.organizations import create_organization
from tests.clicks import click, fold, recorded_clicks
from tests.former_clicks import store_formerly
from tests.fresh_database import fresh_database
from tests.polling import wait_for_async
from tests.stored_links import insert_links

NOW = datetime.now(UTC).replace(microsecond=0)


@pytest.fixture(scope="module")
async def database(service: Service) -> AsyncIterator[Database]:
    """A database of this file's own, in which no service moves clicks."""
    async with fresh_database(service.resources.database) as own:
        yield own


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of seven clicks."""
    monkeypatch.setattr(former_clicks, "_MOST", 7)


@pytest.fixture
def clicked(org_id: OrgId) -> list[Click]:
    """Thirty clicks of a link over twenty days, some of which don't count."""
    link_id = LinkId(str(uuid.uuid4()))
    return [
        click(
            org_id,
            link_id,
            NOW - timedelta(hours=16 * number, seconds=number),
            platform=("ios", "desktop")[number % 2],
            country=("DE", None)[number % 2],
            reason=NotCounted.CRAWLER.value if number % 5 == 0 else None,
        )
        for number in range(30)
    ]


@pytest.fixture
async def org_id(database: Database) -> OrgId:
    """An organization without clicks."""
    return (await create_organization(database, "Formerly", NOW)).id


async def move_all(database: Database, moving: FormerClicks) -> int:
    """Move what there is. Returns in how many batches that had something to move."""
    moving.look()
    batches = 0
    while not moving.is_done:
        batches += bool(await moving.move())
    return batches


async def waiting(database: Database, stored: Sequence[Click]) -> int:
    """How many documents of this link's clicks there are."""
    return await database[clicks.NAME].count_documents({"link_id": stored[0].link_id})


@pytest.mark.usefixtures("small_batches")
async def test_counts_stay_while_clicks_move(database: Database, clicked: list[Click]) -> None:
    """After each batch and each fold the windows are what they were; in the end blocks hold every click."""
    await store_formerly(database, clicked)
    org_id, link_id = clicked[0].org_id, clicked[0].link_id
    before = await count_window(database, org_id, link_id, NOW)
    assert before.total == 24
    moving = FormerClicks(database)
    moving.look()
    while not moving.is_done:
        await moving.move()
        assert await count_window(database, org_id, link_id, NOW) == before
        await fold(database, [org_id])
        assert await count_window(database, org_id, link_id, NOW) == before
    assert await waiting(database, clicked) == 0
    recorded = await recorded_clicks(database, org_id)
    assert sorted(map(repr, recorded)) == sorted(map(repr, clicked))
    values = await count_values(database, link_id, org_id, NOW, 30)
    assert values[Dimension.PLATFORM] == {"ios": 12, "desktop": 12}
    assert values[Dimension.REASON] == {"crawler": 6}
    days = database[click_counts.NAME].find({"_id": {"$regex": f"^{link_id}/day/"}})
    assert sum([sum(day["quarters"].values()) async for day in days if "quarters" in day]) == 24


async def test_days_that_an_earlier_version_makes_beside_this_one(
    database: Database, clicked: list[Click]
) -> None:
    """They do not say which day they are; once their clicks have moved, queries by link find them too."""
    org_id, link_id = clicked[0].org_id, clicked[0].link_id
    await insert_links(
        database, [Link(link_id, org_id, "go.a.example", "a", "https://a.example", "a", NOW, NOW)]
    )
    await store_formerly(database, clicked)
    await move_all(database, FormerClicks(database))
    await fold(database, [org_id])
    period = QueryPeriod(_midnight(-20), _midnight(1), UTC)
    found = await answer(database, org_id, Query(period=period, group_by=(Field.LINK,)))
    assert [(row.group, row.values[Measure.CLICKS]) for row in found.rows] == [((link_id,), 24)]


def _midnight(days: int) -> datetime:
    return NOW.replace(hour=0, minute=0, second=0) + timedelta(days=days)


@pytest.mark.usefixtures("small_batches")
async def test_a_move_goes_on_where_it_ended(database: Database, clicked: list[Click]) -> None:
    """What one process moved is not moved again by the next one."""
    await store_formerly(database, clicked)
    first = FormerClicks(database)
    first.look()
    while await waiting(database, clicked) == 30:
        await first.move()
    assert 0 < await waiting(database, clicked) < 30
    await move_all(database, FormerClicks(database))
    await fold(database, [clicked[0].org_id])
    recorded = await recorded_clicks(database, clicked[0].org_id)
    assert sorted(map(repr, recorded)) == sorted(map(repr, clicked))


@pytest.mark.usefixtures("small_batches")
async def test_two_processes_move_each_click_once(database: Database, clicked: list[Click]) -> None:
    """Side by side they disturb each other, and still each click is in one block."""
    await store_formerly(database, clicked)

    async def move_until_none_is_left() -> None:
        moving = FormerClicks(database)
        while True:
            await move_all(database, moving)
            if not await waiting(database, clicked):
                return

    await asyncio.gather(*(move_until_none_is_left() for _ in range(3)))
    await fold(database, [clicked[0].org_id])
    recorded = await recorded_clicks(database, clicked[0].org_id)
    assert sorted(map(repr, recorded)) == sorted(map(repr, clicked))


async def test_what_no_block_can_hold_stays(database: Database, clicked: list[Click]) -> None:
    """Such as an archive of a former version may bring: it stays, and all others are moved."""
    stored = clicked[:4]
    await store_formerly(database, stored)
    odd = {"platform": 5, "reason": ["head"], "browser": "x" * 600, "at": datetime(1969, 12, 31, tzinfo=UTC)}
    [usual] = await database[clicks.NAME].find({"link_id": stored[0].link_id}).limit(1).to_list(None)
    await database[clicks.NAME].insert_many(
        [usual | {"_id": f"odd-{uuid.uuid4().hex}", name: value} for name, value in odd.items()]
    )
    await move_all(database, FormerClicks(database))
    assert len(await recorded_clicks(database, stored[0].org_id)) == len(stored)
    assert await waiting(database, stored) == len(odd)


async def test_what_a_restore_brings_stays_until_it_is_whole(database: Database) -> None:
    """Clicks of an organization that does not exist yet stay, and so do documents that are none."""
    stored = [click(OrgId(str(uuid.uuid4())), LinkId(str(uuid.uuid4())), NOW)]
    await store_formerly(database, stored)
    await database[clicks.NAME].insert_one({"_id": f"odd-{uuid.uuid4().hex}", "org_id": stored[0].org_id})
    await move_all(database, FormerClicks(database))
    assert await waiting(database, stored) == 1
    assert await count_former_clicks(database) >= 2


async def test_a_service_moves_them_as_it_runs(
    settings: Settings, database: Database, clicked: list[Click], tmp_path: Path
) -> None:
    """A service that starts on such data moves it, and counts what earlier versions did not."""
    await store_formerly(database, clicked)
    service = create_app(replace(settings, mongodb_database=database.name, data_dir=tmp_path))
    await service.startup()

    async def platforms() -> dict[str | None, int]:
        values = await count_values(database, clicked[0].link_id, clicked[0].org_id, NOW, 30)
        return dict(values[Dimension.PLATFORM])

    try:
        await wait_for_async(platforms, "not moved", lambda found: found == {"ios": 12, "desktop": 12})
    finally:
        await service.shutdown()
