"""The first load of an organization's facts."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import httpx
import pytest
from duckdb import DuckDBPyConnection

from backend.domain.feed.cursor import Cursor
from backend.domain.ids import LinkId
from backend.storage.clicks import blocks as click_blocks
from backend.storage.columns import loading
from backend.storage.columns.loading import load
from backend.storage.columns.rows import clicks as click_rows
from backend.storage.driver.mongo import Database
from backend.storage.outbox.marks import end_of_feed
from tests.domain.sales.shelf import START
from tests.facts.clicks import click, ship
from tests.facts.organizations import TestOrganization
from tests.facts.told_history import tell_history
from tests.storage.analytics.feeding import catch_up, place_of
from tests.storage.analytics.naive.rows import rows_in, rows_of
from tests.storage.analytics.tables import written

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
