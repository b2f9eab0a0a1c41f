"""The files that are open: whoever opens, closes or writes them anew keeps nobody waiting."""

from __future__ import annotations

import asyncio
import threading
from datetime import datetime
from pathlib import Path

import pytest

from backend.domain.ids import OrgId
from backend.storage.analytics.file_troubles import FileTroubles
from backend.storage.analytics.messages import KEPT_UP
from backend.storage.columns import open_projections
from backend.storage.columns.tables import column_files
from backend.storage.columns.tables.column_files import ColumnFiles
from backend.storage.columns.tables.store import ColumnStore
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from tests.conftest import OrganizationFactory
from tests.facts.organizations import TestOrganization
from tests.polling import until
from tests.storage.columns.heavy_feeds import store_blocks
from tests.storage.columns.hosts import CountClicks, count, host


async def test_what_could_not_be_written_anew_is_not_noted_as_done(
    database: Database, organization: TestOrganization, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is in use all the time is tried again soon, and not when the next hour is over."""
    monkeypatch.setattr(open_projections, "_CLOSE_SECONDS", 0.05)
    monkeypatch.setattr(open_projections, "_REPLACE_TRIES", 2)
    monkeypatch.setattr(column_files, "is_to_be_rewritten", lambda connection, catalog, now: True)
    note = tmp_path / KEPT_UP
    async with host(database, tmp_path) as projections:
        assert await count(projections, database, organization.id) == 0
        async with projections._open.using(organization.id):
            await projections.keep_up()
            assert not note.exists()
        await projections.keep_up()
        assert note.exists()


async def test_nobody_waits_for_another_file_to_be_closed(
    database: Database,
    make_organization: OrganizationFactory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where a file more is opened than may be open, another one is closed, and whoever asked goes on."""
    monkeypatch.setattr(open_projections, "_MOST_OPEN", 1)
    first, second = [(await make_organization()).id for _ in range(2)]
    go_on, is_closing = threading.Event(), threading.Event()
    close = ColumnFiles.close

    def close_slowly(self: ColumnFiles) -> None:
        if self.org_id == first:
            is_closing.set()
            go_on.wait()
        close(self)

    monkeypatch.setattr(ColumnFiles, "close", close_slowly)
    async with host(database, tmp_path) as projections:
        assert await count(projections, database, first) == 0
        asked = asyncio.create_task(count(projections, database, second))
        try:
            await until(is_closing.is_set, "nothing is closed")
            await until(asked.done, "who asks waits for another's file")
        finally:
            go_on.set()
        assert await asked == 0
        assert await count(projections, database, first) == 0


async def test_room_is_made_only_by_files_that_nobody_uses(
    database: Database,
    make_organization: OrganizationFactory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two who make room at once close what is unused, and nothing that somebody began to use meanwhile."""
    organizations = [await make_organization() for _ in range(3)]
    async with host(database, tmp_path) as projections:
        for organization in organizations:
            await store_blocks(database, organization.id, 1, 10)
            assert await count(projections, database, organization.id) == 10
        close = ColumnFiles.close
        monkeypatch.setattr(ColumnFiles, "close", lambda self: (threading.Event().wait(0.05), close(self)))
        open_ones = projections._open
        asked = [count(projections, database, organization.id) for organization in organizations * 5]
        answers = await asyncio.gather(open_ones.make_room(0), open_ones.make_room(0), *asked)
        assert answers[2:] == [10] * 15


async def test_who_leaves_while_a_file_is_opened(
    database: Database, organization: TestOrganization, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next who asks uses what was opened: no file is open that nobody knows of, nor is one made anew."""
    await store_blocks(database, organization.id, 1, 10)
    go_on, is_opening = threading.Event(), threading.Event()
    attach = ColumnStore.attach

    def attach_slowly(self: ColumnStore, org_id: OrgId, now: datetime) -> ColumnFiles:
        file = attach(self, org_id, now)
        is_opening.set()
        go_on.wait()
        return file

    monkeypatch.setattr(ColumnStore, "attach", attach_slowly)
    async with host(database, tmp_path) as projections:
        asked = asyncio.create_task(projections.ask(organization.id, [CountClicks()]))
        await until(is_opening.is_set, "nothing is opened")
        asked.cancel()
        asyncio.get_running_loop().call_later(0.1, go_on.set)
        with pytest.raises(asyncio.CancelledError):
            await asked
        assert await count(projections, database, organization.id) == 10
    assert FileTroubles(tmp_path).read(utc_now()) == {}
