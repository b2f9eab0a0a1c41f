"""The files of an organization: what is in which, that they agree, and which are written anew."""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from duckdb import DuckDBPyConnection

from backend.domain.ids import CustomerId, LinkId, OrgId
from backend.domain.visitors.persons import Subject
from backend.storage.accounts.organizations import set_click_days
from backend.storage.clicks.expired_days import sum_expired
from backend.storage.columns import applying, loading
from backend.storage.columns.projections import Projections
from backend.storage.columns.rows import clicks as click_rows
from backend.storage.columns.rows import summaries as summary_rows
from backend.storage.columns.tables import column_files, forgetting
from backend.storage.columns.tables.column_files import ColumnFiles
from backend.storage.columns.tables.database_files import DatabaseFile
from backend.storage.columns.tables.state import note_clicks
from backend.storage.columns.tables.transactions import long_transaction, transaction
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.privacy.privacy import erase_subject
from backend.storage.sales.batches import store_batches
from tests.conftest import OrganizationFactory
from tests.domain.sales.shelf import arrived, batch
from tests.facts.clicks import click, ship
from tests.facts.feeds import place_all
from tests.facts.organizations import TestOrganization
from tests.facts.told_history import tell_history
from tests.polling import until
from tests.storage.analytics.naive.rows import Tables, rows_in, rows_of
from tests.storage.columns.hosts import count, host

JANUARY = datetime(2026, 1, 5, 12, tzinfo=UTC)
MONTH = timedelta(days=31)
NOW = JANUARY + timedelta(days=100)
ADA = CustomerId("ada-of-the-files")


@pytest.fixture
def small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each month of clicks gets a file of its own."""
    monkeypatch.setattr(column_files, "_CLICKS_OF_FILE", 1)
    monkeypatch.setattr(click_rows, "_BLOCKS_PER_TRANSACTION", 1)


def names(org_id: OrgId, *months: str) -> set[str]:
    """The names of an organization's files, with those of these months."""
    return {f"{org_id}{which}.duckdb" for which in ("", ".clicks", *(f".clicks-{month}" for month in months))}


def contents(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Each file of columns with its number on the disk, when it was written, and its bytes."""
    return {
        path.name: (path.stat().st_ino, path.stat().st_mtime_ns, path.read_bytes())
        for path in folder.glob("*.duckdb")
    }


async def rows(projections: Projections, database: Database, org_id: OrgId) -> Tables:
    """All rows, once everything is there."""
    await count(projections, database, org_id)
    async with projections._open.using(org_id) as projection:
        with projection.files.connection() as connection:
            return rows_in(connection)


async def clicks_of_months(database: Database, org_id: OrgId, *links: str, late: int = 0) -> None:
    """A click of each link in each of three months, stored so many days later than it happened."""
    for month in range(3):
        at = JANUARY + month * MONTH - timedelta(days=late)
        await ship(database, [click(org_id, LinkId(link), at, country="DE") for link in links])


@pytest.mark.usefixtures("small_files")
async def test_months_of_clicks(
    database: Database, organization: TestOrganization, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    """Each month's clicks are in a file, whether they are loaded or followed, or come late; all are read as
    one."""
    org_id = organization.id
    link_id = await tell_history(client, organization, database)
    await clicks_of_months(database, org_id, link_id, "second")
    month = f"{datetime.now(UTC):%Y-%m}"
    async with host(database, tmp_path / "early") as early:
        assert await rows(early, database, org_id) == await rows_of(database, org_id)
        await clicks_of_months(database, org_id, "third", late=3)
        async with host(database, tmp_path / "late") as late:
            for projections in (early, late):
                assert await rows(projections, database, org_id) == await rows_of(database, org_id)
    for folder in (tmp_path / "early", tmp_path / "late"):
        assert {path.name for path in folder.glob("*.duckdb")} == names(org_id, "2026-02", "2026-03", month)


@pytest.mark.usefixtures("small_files")
async def test_what_is_deleted_is_all_that_is_written_anew(
    database: Database, organization: TestOrganization, tmp_path: Path
) -> None:
    """A person's erasure leaves all files of clicks as they are to the byte; adding up days of a month leaves
    the files of the other months, and the one of people."""
    org_id = organization.id
    first, january = f"{org_id}.duckdb", f"{org_id}.clicks.duckdb"
    await clicks_of_months(database, org_id, "one")
    await store_batches(database, [batch(arrived("identify", customer=ADA), org=org_id)])
    async with host(database, tmp_path) as projections:
        assert await count(projections, database, org_id) == 3
    before = contents(tmp_path)
    assert set(before) == names(org_id, "2026-02", "2026-03")
    assert ADA.encode() in before[first][2]
    await erase_subject(database, org_id, Subject(customer_id=ADA))
    async with host(database, tmp_path) as projections:
        await place_all(database, org_id)
        await projections.keep_up()
    after = contents(tmp_path)
    assert {name for name in before if before[name] != after[name]} == {first}
    assert ADA.encode() not in after[first][2]
    await set_click_days(database, org_id, 40)
    assert await sum_expired(database, org_id, JANUARY + MONTH + timedelta(days=20)) == 1
    async with host(database, tmp_path) as projections:
        await place_all(database, org_id)
        await projections.keep_up()
        assert await count(projections, database, org_id) == 3
    last = contents(tmp_path)
    # The first file has the place in the feed besides.
    assert {name for name in after if after[name][0] != last[name][0]} == {january}
    assert {name for name in after if after[name] != last[name]} == {first, january}


@pytest.mark.parametrize("is_copied", [[True, True], [True, False], [False, True]])
async def test_links_that_come_as_a_file_is_written_anew(
    database: Database,
    make_organization: OrganizationFactory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    is_copied: list[bool],
) -> None:
    """Whichever file is written anew, all are asked meanwhile, and what comes then stays. Rows of clicks and
    visits mean the links that they meant before."""
    org_id, other_id = [(await make_organization()).id for _ in range(2)]
    go_on, is_copying = threading.Event(), threading.Event()
    copy = DatabaseFile.copy

    def copy_slowly(self: DatabaseFile, connection: DuckDBPyConnection) -> Path:
        path = copy(self, connection)
        is_copying.set()
        go_on.wait()
        return path

    def is_due(connection: DuckDBPyConnection, catalog: str, now: datetime) -> bool:
        return is_copied[".clicks" in catalog]

    monkeypatch.setattr(DatabaseFile, "copy", copy_slowly)
    monkeypatch.setattr(column_files, "is_to_be_rewritten", is_due)
    await clicks_of_months(database, org_id, "b", "d")
    async with host(database, tmp_path) as projections:
        assert await count(projections, database, org_id) == 6
        before = contents(tmp_path)
        keeping_up = asyncio.create_task(projections.keep_up())
        try:
            await until(is_copying.is_set, "nothing is written anew")
            for number, link in enumerate(("f", "e", "c", "a"), 3):  # each of them gets a number of its own
                await clicks_of_months(database, org_id, link)
                assert await count(projections, database, org_id) == 3 * number
            assert await count(projections, database, other_id) == 0
        finally:
            go_on.set()
        await keeping_up
        after = contents(tmp_path)
        assert {name for name in before if before[name][0] != after[name][0]} == {
            name for name in before if is_copied[".clicks" in name]
        }
        await clicks_of_months(database, org_id, "g")
        assert await rows(projections, database, org_id) == await rows_of(database, org_id)


class Images:
    """What is on the disk after each transaction, and each step of putting copies in place: what a process
    leaves that is killed then."""

    def __init__(self, folder: Path, to: Path) -> None:
        self._folder, self._to = folder, to
        self.folders: list[Path] = []

    def take(self) -> None:
        """Take one."""
        self.folders.append(self._to / str(len(self.folders)))
        shutil.copytree(self._folder, self.folders[-1])

    def taken_after(self, work: Callable[..., Any]) -> Callable[..., Any]:
        """The same, with an image after it."""

        def do(*arguments: Any) -> Any:
            done = work(*arguments)
            self.take()
            return done

        return do

    @contextmanager
    def transaction(self, connection: DuckDBPyConnection) -> Iterator[None]:
        """A transaction with an image after it."""
        with transaction(connection):
            yield
        self.take()

    @asynccontextmanager
    async def long_transaction(self, connection: DuckDBPyConnection) -> AsyncIterator[None]:
        """The same."""
        async with long_transaction(connection):
            yield
        self.take()

    def plant(self, patch: pytest.MonkeyPatch) -> None:
        """Take them from now on."""
        for module in (applying, loading, click_rows, forgetting, column_files):
            patch.setattr(module, "transaction", self.transaction)
        patch.setattr(applying, "long_transaction", self.long_transaction)
        for module in (click_rows, summary_rows):
            patch.setattr(module, "number_links", self.taken_after(module.number_links))
        patch.setattr(loading, "note_clicks", self.taken_after(note_clicks))
        patch.setattr(ColumnFiles, "go_back_for", self.taken_after(ColumnFiles.go_back_for))
        patch.setattr(Path, "replace", self.taken_after(Path.replace))


@pytest.mark.usefixtures("small_files")
async def test_a_process_that_is_killed_between_two_transactions(
    database: Database,
    organization: TestOrganization,
    client: httpx.AsyncClient,
    tmp_path: Path,
) -> None:
    """Whether files are made, follow the feed or are written anew: the next process has each fact once."""
    org_id, folder = organization.id, tmp_path / "host"
    link_id = await tell_history(client, organization, database)
    await clicks_of_months(database, org_id, link_id)
    await set_click_days(database, org_id, 40)
    images = Images(folder, tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        async with host(database, folder) as projections:
            images.plant(patch)
            await count(projections, database, org_id)
            loaded = len(images.folders)
            assert await sum_expired(database, org_id, JANUARY + MONTH + timedelta(days=20)) == 1
            await store_batches(database, [batch(arrived("identify", customer=ADA), org=org_id)])
            await clicks_of_months(database, org_id, "third")
            await count(projections, database, org_id)
            await erase_subject(database, org_id, Subject(customer_id=ADA))
            await count(projections, database, org_id)
            followed = len(images.folders)
            await projections.keep_up()
    assert loaded > 10
    assert followed - loaded > 5
    assert len(images.folders) - followed > 2
    async with host(database, tmp_path / "anew") as projections:
        expected = await rows(projections, database, org_id)
    for image in images.folders:
        async with host(database, image) as projections:
            assert await rows(projections, database, org_id) == expected, image.name
