"""The first load of an organization's facts, and what is said and done while it goes on."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from duckdb import DuckDBPyConnection

from backend.domain.feed.cursor import Cursor
from backend.domain.ids import LinkId, OrgId
from backend.storage.analytics.question import FactsNotReady
from backend.storage.clicks import blocks as click_blocks
from backend.storage.columns import loading, open_projections, projection
from backend.storage.columns.loading import load
from backend.storage.columns.projections import Projections
from backend.storage.columns.rows import clicks as click_rows
from backend.storage.columns.tables.column_files import delete_all
from backend.storage.columns.tables.written_columns import WrittenColumns
from backend.storage.driver.mongo import Database
from backend.storage.outbox.marks import end_of_feed
from tests.conftest import OrganizationFactory
from tests.domain.sales.shelf import START
from tests.facts.clicks import click, ship
from tests.facts.organizations import TestOrganization
from tests.facts.told_history import tell_history
from tests.polling import wait_for_async
from tests.storage.analytics.feeding import catch_up, place_of
from tests.storage.analytics.naive.rows import rows_in, rows_of
from tests.storage.analytics.tables import written
from tests.storage.columns.heavy_feeds import store_blocks
from tests.storage.columns.hosts import CountClicks, count, host, is_ready

LINK = LinkId("link")


def is_loaded(columns: DuckDBPyConnection) -> bool:
    """Whether the tables say that everything is there."""
    return columns.execute("SELECT is_loaded FROM state").fetchone() == (True,)


async def test_everything_is_loaded(
    columns: DuckDBPyConnection,
    client: httpx.AsyncClient,
    organization: TestOrganization,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All facts are rows then, however few go at once; the feed goes on behind what there was before."""
    link_id = await tell_history(client, organization, database)
    monkeypatch.setattr(loading, "_DOCUMENTS_PER_TRANSACTION", 1)
    monkeypatch.setattr(click_rows, "CLICKS_PER_TRANSACTION", 2)
    monkeypatch.setattr(click_rows, "_BLOCKS_PER_TRANSACTION", 2)
    clicks = [click(organization.id, link_id, START + timedelta(days=n)) for n in range(5)]
    await ship(database, clicks)
    end = await end_of_feed(database, organization.id)
    progress: list[int] = []
    assert not is_loaded(columns)
    for _ in range(2):  # whatever is there goes first
        assert await load(database, organization.id, written(columns), progress.append) == []
        assert rows_in(columns) == await rows_of(database, organization.id)
    assert is_loaded(columns)
    assert Cursor(place_of(columns)) >= end
    assert progress == [2, 4, 7] * 2
    await catch_up(database, organization.id, columns)
    assert rows_in(columns) == await rows_of(database, organization.id)


async def test_an_interrupted_load(
    columns: DuckDBPyConnection,
    organization: TestOrganization,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whoever stops to wait leaves tables that say that not everything is there, and it can be done again."""
    monkeypatch.setattr(click_rows, "CLICKS_PER_TRANSACTION", 1)
    await ship(database, [click(organization.id, LINK, START + timedelta(days=n)) for n in range(4)])

    def give_up(_: int) -> None:
        loading_now.cancel()

    loading_now = asyncio.create_task(load(database, organization.id, written(columns), give_up))
    with pytest.raises(asyncio.CancelledError):
        await loading_now
    assert not is_loaded(columns)
    assert 0 < len(rows_in(columns)["clicks"]) < 4
    await load(database, organization.id, written(columns))
    assert rows_in(columns) == await rows_of(database, organization.id)


async def test_damaged_blocks(
    columns: DuckDBPyConnection, organization: TestOrganization, database: Database
) -> None:
    """Blocks that can't be read are left out and told of."""
    await ship(database, [click(organization.id, LINK, START + timedelta(days=n)) for n in range(3)])
    of_org = {"org_id": organization.id}
    damaged = await database[click_blocks.NAME].find_one_and_update(of_org, {"$set": {"packed": b"\x01?"}})
    assert damaged
    assert await load(database, organization.id, written(columns)) == [damaged["_id"]]
    assert len(rows_in(columns)["clicks"]) == 2
    assert is_loaded(columns)


async def test_loads_go_on_when_nobody_waits(
    database: Database,
    make_organization: OrganizationFactory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each of several organizations is loaded once, although fewer files are open when others are asked."""
    monkeypatch.setattr(projection, "_CATCH_UP_SECONDS", 0.1)
    monkeypatch.setattr(open_projections, "_MOST_OPEN", 2)
    begun: list[OrgId] = []
    go_on = asyncio.Event()

    async def load_slowly(
        database: Database, org_id: OrgId, columns: WrittenColumns, *others: Any, **named: Any
    ) -> list[str]:
        begun.append(org_id)
        await go_on.wait()
        return await load(database, org_id, columns, *others, **named)

    monkeypatch.setattr(projection, "load", load_slowly)
    org_ids = [(await make_organization()).id for _ in range(4)]
    for org_id in org_ids:
        await store_blocks(database, org_id, 1, 100)
    async with host(database, tmp_path) as projections:
        for org_id in org_ids * 3:
            assert not await is_ready(projections, org_id)
        go_on.set()
        for org_id in org_ids:
            assert await count(projections, database, org_id) == 100
    assert sorted(begun) == sorted(org_ids)


async def test_a_load_keeps_what_it_has(
    database: Database, organization: TestOrganization, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that ends in the middle of a load leaves its rows to the next one, which goes on there."""
    monkeypatch.setattr(click_rows, "CLICKS_PER_TRANSACTION", 100)
    monkeypatch.setattr(projection, "_CATCH_UP_SECONDS", 0.0)
    await store_blocks(database, organization.id, 30, 100)
    some, loaded = asyncio.Event(), 0
    note = projection.Projection._note

    def stop_in_the_middle(self: projection.Projection, clicks: int) -> None:
        note(self, clicks)
        if clicks == 1_000:
            some.set()

    monkeypatch.setattr(projection.Projection, "_note", stop_in_the_middle)
    async with host(database, tmp_path) as projections:
        assert not await is_ready(projections, organization.id)
        await some.wait()
    monkeypatch.setattr(projection, "_CATCH_UP_SECONDS", 3.0)
    staged = click_rows.StagedClicks._unpack

    def count_unpacked(self: click_rows.StagedClicks) -> None:
        nonlocal loaded
        loaded += sum(block.clicks for block in self._blocks)
        staged(self)

    monkeypatch.setattr(click_rows.StagedClicks, "_unpack", count_unpacked)
    async with host(database, tmp_path) as projections:
        assert await count(projections, database, organization.id) == 3_000
    assert 0 < loaded < 2_500


async def not_ready(projections: Projections, org_id: OrgId) -> FactsNotReady:
    """What who asks is told."""
    with pytest.raises(FactsNotReady) as raised:
        await projections.ask(org_id, [CountClicks()])
    return raised.value


async def test_what_is_said_while_figures_are_not_there(
    database: Database, organization: TestOrganization, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who waits for figures that are made anew hears how far they are; who waits for new facts hears that."""
    monkeypatch.setattr(projection, "_CATCH_UP_SECONDS", 0.0)
    go_on = asyncio.Event()

    async def load_slowly(*arguments: Any, **named: Any) -> list[str]:
        await go_on.wait()
        return await load(*arguments, **named)

    monkeypatch.setattr(projection, "load", load_slowly)
    await store_blocks(database, organization.id, 1, 100)
    async with host(database, tmp_path) as projections:

        async def is_said() -> bool:
            why = str(await not_ready(projections, organization.id))
            return "made anew from what is stored: 0 clicks are counted so far" in why

        await wait_for_async(is_said, "nothing is said of the load")
        go_on.set()
        monkeypatch.setattr(projection, "_CATCH_UP_SECONDS", 3.0)
        assert await count(projections, database, organization.id) == 100
        await store_blocks(database, organization.id, 1, 100)
        monkeypatch.setattr(projection, "_CATCH_UP_SECONDS", 0.0)
        why = str(await not_ready(projections, organization.id))
        assert "are being brought up to date" in why
        assert "anew" not in why


async def test_a_file_that_is_deleted_while_it_is_loaded(
    database: Database, organization: TestOrganization, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits for the load that is lost: who asks next has the file made anew."""
    is_begun, begun = asyncio.Event(), 0

    async def load_for_ever_at_first(*arguments: Any, **named: Any) -> list[str]:
        nonlocal begun
        begun += 1
        is_begun.set()
        if begun == 1:
            await asyncio.Event().wait()
        return await load(*arguments, **named)

    monkeypatch.setattr(projection, "load", load_for_ever_at_first)
    await store_blocks(database, organization.id, 1, 100)
    async with host(database, tmp_path) as projections:
        asked = asyncio.create_task(is_ready(projections, organization.id))
        await is_begun.wait()
        delete_all(tmp_path, organization.id)
        async with asyncio.timeout(8):
            assert await count(projections, database, organization.id) == 100
        assert not await asked
