"""Exports of an organization that is being written to."""

from __future__ import annotations

import time
from pathlib import Path

import httpx
import pytest

from backend.domain.clicks.block import unpack
from backend.domain.ids import LinkId
from backend.settings import Settings
from backend.storage.database import Indexes, open_database
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.archive import SnapshotTooOld, read_owned, snapshot
from backend.system.clock import utc_now
from tests.archives.full_organization import fill
from tests.facts.clicks import click, recorded_clicks, ship
from tests.facts.organizations import TestOrganization


async def test_a_snapshot_is_of_one_moment(
    client: httpx.AsyncClient, database: Database, organization: TestOrganization
) -> None:
    """A click that comes after the export has begun is not in it; without a snapshot it is."""
    link_id = (await fill(client, database, organization))[0]
    assert await late_clicks(database, organization, link_id, in_snapshot=True) == 0
    assert await late_clicks(database, organization, link_id, in_snapshot=False) == 1


async def late_clicks(
    database: Database, organization: TestOrganization, link_id: LinkId, *, in_snapshot: bool
) -> int:
    """How many clicks are exported that come after the export has begun, of one."""
    before = len(await recorded_clicks(database, organization.id, link_id))
    clicks, shipped = 0, False
    async with snapshot(database, is_consistent=in_snapshot) as session:
        async for name, document in read_owned(database, session, organization.id, with_credentials=True):
            if name == "click_blocks":
                clicks_found = unpack(document["packed"]).clicks(organization.id)
                clicks += sum(click.link_id == link_id for click in clicks_found)
            elif not shipped:
                shipped = True
                await ship(database, [click(organization.id, LinkId(link_id), utc_now())])
    assert before > 0
    return clicks - before


async def test_a_past_that_the_server_no_longer_keeps(tmp_path: Path) -> None:
    """An export that takes longer than MongoDB keeps its past ends with a sentence that says what to do."""
    # A MongoDB of its own: the parameter is the server's, and would end whatever others read of one moment.
    async with open_database(Settings(data_dir=tmp_path), Indexes.LEAVE) as database:
        parameter = {"setParameter": 1, "minSnapshotHistoryWindowInSeconds": 0}
        await database.client.admin.command(parameter)
        with pytest.raises(SnapshotTooOld, match="--no-snapshot"):
            await read_until_too_old(database)


async def read_until_too_old(database: Database) -> None:
    """Read in one snapshot while the database goes on."""
    deadline = time.monotonic() + 60
    await database["other"].insert_one({})  # else every moment of it is known: it has never been
    async with snapshot(database) as session:
        while time.monotonic() < deadline:
            await database["other"].find_one({}, session=session)
            await database["other"].insert_one({})
