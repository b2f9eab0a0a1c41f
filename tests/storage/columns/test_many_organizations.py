"""Many organizations on a host: what is done for one neither stops the others nor is lost."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Generator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest
from duckdb import DuckDBPyConnection

from backend.domain.ids import OrgId
from backend.storage.accounts.deleted_organizations import begin_deletion
from backend.storage.accounts.organizations import set_retention_days
from backend.storage.analytics.file_troubles import FileTroubles
from backend.storage.analytics.messages import KEPT_UP
from backend.storage.analytics.question import Facts, FactsNotReady, LongQuestion, NoAnswer, Question, TooMuch
from backend.storage.columns import open_projections, projection
from backend.storage.columns.loading import load
from backend.storage.columns.projections import Projections
from backend.storage.columns.rows import clicks as click_rows
from backend.storage.columns.tables import column_files
from backend.storage.columns.tables.column_files import ColumnFiles
from backend.storage.columns.tables.database_files import DatabaseFile
from backend.storage.columns.tables.store import ColumnStore
from backend.storage.columns.tables.transactions import to_its_end
from backend.storage.columns.tables.written_columns import WrittenColumns
from backend.storage.driver.mongo import ClientSession, Database, in_transaction
from backend.system.clock import utc_now
from tests.conftest import OrganizationFactory
from tests.facts.organizations import TestOrganization
from tests.polling import until, wait_for_async
from tests.storage.columns.heavy_feeds import store_blocks
from tests.storage.columns.hosts import CountClicks, count, host

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
_begun, _let_go = threading.Event(), threading.Event()


@dataclass(frozen=True)
class Held(LongQuestion[int]):
    """A question that is answered once the test lets it."""

    number: int

    def answer(self, facts: Facts) -> int:  # type: ignore[override]  # either way it is asked
        """Waits."""
        _begun.set()
        _let_go.wait()
        return self.number

    def pieces(self, facts: Facts) -> Generator[int, None, None]:
        """Waits, in a long answer."""
        yield self.answer(facts)


class Numbers(LongQuestion[int]):
    """A long answer."""

    def pieces(self, facts: Facts) -> Generator[int, None, None]:
        """Two numbers."""
        yield from range(2)


@dataclass(frozen=True)
class Large(Question[int]):
    """A question that no memory suffices for."""

    def answer(self, facts: Facts) -> int:
        """Collects what can't be spilled."""
        [(count,)] = facts.connection.execute("SELECT len(list(n)) FROM range(20_000_000) AS a(n)").fetchall()
        return int(count)


class LargeInPieces(LongQuestion[int]):
    """The same, in a long answer."""

    def pieces(self, facts: Facts) -> Generator[int, None, None]:
        """Collects what can't be spilled."""
        yield Large().answer(facts)


async def is_ready(projections: Projections, org_id: OrgId) -> bool:
    """Whether the organization's figures are told."""
    with contextlib.suppress(FactsNotReady):
        await projections.ask(org_id, [CountClicks()])
        return True
    return False


@pytest.mark.parametrize("is_long", [False, True])
async def test_no_organization_has_all_threads(
    database: Database, make_organization: OrganizationFactory, tmp_path: Path, is_long: bool
) -> None:
    """However much one asks at once, another one's questions and long answers are begun beside it."""
    greedy, other = await make_organization(), await make_organization()
    _begun.clear()
    _let_go.clear()

    async def answer(projections: Projections, number: int) -> list[int]:
        if is_long:
            return [piece async for piece in projections.stream(greedy.id, Held(number))]
        return await projections.ask(greedy.id, [Held(number)])

    async with host(database, tmp_path) as projections:
        assert await count(projections, database, greedy.id) == 0
        asked = [asyncio.create_task(answer(projections, number)) for number in range(12)]
        try:
            async with asyncio.timeout(20):
                await until(_begun.is_set, "nothing is begun")
                assert await count(projections, database, other.id) == 0
                assert [piece async for piece in projections.stream(other.id, Numbers())] == [0, 1]
        finally:
            _let_go.set()
        assert await asyncio.gather(*asked) == [[number] for number in range(12)]


async def test_nobody_waits_for_the_pages_of_others(
    database: Database, make_organization: OrganizationFactory, tmp_path: Path
) -> None:
    """While pages of several organizations are written, of which each has questions and long answers, another
    one is answered."""
    *writing, other = [await make_organization() for _ in range(6)]
    async with host(database, tmp_path) as projections:
        assert await count(projections, database, other.id) == 0
        for org in writing:
            assert await count(projections, database, org.id) == 0
        async with contextlib.AsyncExitStack() as pages:
            for org in writing:
                projection = await pages.enter_async_context(projections._open.using(org.id))
                await pages.enter_async_context(projection.files.moments.changing())
            asking = [asyncio.create_task(projections.ask(org.id, [CountClicks()])) for org in writing * 2]
            await asyncio.sleep(0.5)
            async with asyncio.timeout(1.5):
                assert await count(projections, database, other.id) == 0
        assert await asyncio.gather(*asking) == [[0]] * len(asking)


async def test_who_has_no_news_waits_for_no_transaction(
    database: Database, make_organization: OrganizationFactory, tmp_path: Path
) -> None:
    """While others write for long, questions are answered of whom nothing is new, with what expires, too."""
    organization, go_on = await make_organization(), threading.Event()
    await set_retention_days(database, organization.id, 30)
    async with host(database, tmp_path) as projections:
        assert await count(projections, database, organization.id) == 0
        writing = [asyncio.create_task(to_its_end(go_on.wait)) for _ in range(2)]
        try:
            assert await is_ready(projections, organization.id)
            await projections._open.make_room(0)
            assert await is_ready(projections, organization.id)
        finally:
            go_on.set()
        await asyncio.gather(*writing)


async def test_memory_that_others_have(
    database: Database, make_organization: OrganizationFactory, tmp_path: Path
) -> None:
    """Whose answer has too little memory is told to ask again if others are answered, and else for less."""
    one, other = await make_organization(), await make_organization()
    _begun.clear()
    _let_go.clear()
    async with host(database, tmp_path, memory_mb=40) as projections:
        for organization in (one, other):
            assert await count(projections, database, organization.id) == 0
        asked = asyncio.create_task(projections.ask(other.id, [Held(1)]))
        try:
            await until(_begun.is_set, "nothing is begun")
            with pytest.raises(NoAnswer, match="than is free while others are answered: ask again"):
                await projections.ask(one.id, [Large()])
            with pytest.raises(NoAnswer, match="than is free while others are answered: ask again"):
                _ = [piece async for piece in projections.stream(one.id, LargeInPieces())]
        finally:
            _let_go.set()
        assert await asked == [1]
        with pytest.raises(TooMuch, match="than WAYLINK_ANALYTICS_MEMORY allows"):
            await projections.ask(one.id, [Large()])


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
    database: Database,
    make_organization: OrganizationFactory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A process that ends in the middle of a load leaves its rows to the next one, which goes on there."""
    monkeypatch.setattr(click_rows, "CLICKS_PER_TRANSACTION", 100)
    monkeypatch.setattr(projection, "_CATCH_UP_SECONDS", 0.0)
    organization = await make_organization()
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


def delete_files(folder: Path, org_id: OrgId) -> None:
    """Delete an organization's files below the process."""
    for path in folder.glob(f"{org_id}.*"):
        path.unlink()


async def not_ready(projections: Projections, org_id: OrgId) -> FactsNotReady:
    """What who asks is told."""
    with pytest.raises(FactsNotReady) as raised:
        await projections.ask(org_id, [CountClicks()])
    return raised.value


async def test_what_is_said_while_figures_are_not_there(
    database: Database,
    make_organization: OrganizationFactory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Who waits for figures that are made anew hears how far they are; who waits for new facts hears that."""
    monkeypatch.setattr(projection, "_CATCH_UP_SECONDS", 0.0)
    go_on = asyncio.Event()

    async def load_slowly(*arguments: Any, **named: Any) -> list[str]:
        await go_on.wait()
        return await load(*arguments, **named)

    monkeypatch.setattr(projection, "load", load_slowly)
    organization = await make_organization()
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
    database: Database,
    make_organization: OrganizationFactory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
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
    organization = await make_organization()
    await store_blocks(database, organization.id, 1, 100)
    async with host(database, tmp_path) as projections:
        asked = asyncio.create_task(is_ready(projections, organization.id))
        await is_begun.wait()
        delete_files(tmp_path, organization.id)
        async with asyncio.timeout(8):
            assert await count(projections, database, organization.id) == 100
        assert not await asked


async def test_a_file_is_written_anew_beside_questions(
    database: Database,
    make_organization: OrganizationFactory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """While a file is written anew, it and others answer questions, and what comes then stays."""
    organization, other = await make_organization(), await make_organization()
    go_on, is_copying = threading.Event(), threading.Event()
    copy = DatabaseFile.copy

    def copy_slowly(self: DatabaseFile, connection: DuckDBPyConnection) -> Path:
        path = copy(self, connection)
        is_copying.set()
        go_on.wait()
        return path

    monkeypatch.setattr(DatabaseFile, "copy", copy_slowly)
    monkeypatch.setattr(column_files, "is_to_be_rewritten", lambda connection, catalog, now: True)
    await store_blocks(database, organization.id, 1, 10)
    async with host(database, tmp_path) as projections:
        assert await count(projections, database, organization.id) == 10
        path = tmp_path / f"{organization.id}.duckdb"
        before = path.stat().st_ino
        keeping_up = asyncio.create_task(projections.keep_up())
        try:
            await until(is_copying.is_set, "nothing is written anew")
            await store_blocks(database, organization.id, 1, 20)
            assert await count(projections, database, organization.id) == 30
            assert await count(projections, database, other.id) == 0
        finally:
            go_on.set()
        await keeping_up
        assert path.stat().st_ino != before
        assert await count(projections, database, organization.id) == 30


async def test_what_could_not_be_written_anew_is_not_noted_as_done(
    database: Database,
    make_organization: OrganizationFactory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A file that is in use all the time is tried again soon, and not when the next hour is over."""
    monkeypatch.setattr(open_projections, "_CLOSE_SECONDS", 0.05)
    monkeypatch.setattr(open_projections, "_REPLACE_TRIES", 2)
    monkeypatch.setattr(column_files, "is_to_be_rewritten", lambda connection, catalog, now: True)
    organization, note = await make_organization(), tmp_path / KEPT_UP
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
    database: Database,
    make_organization: OrganizationFactory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The next who asks uses what was opened: no file is open that nobody knows of, nor is one made anew."""
    organization = await make_organization()
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


async def test_nothing_is_kept_of_who_is_gone(
    database: Database, organization: TestOrganization, tmp_path: Path
) -> None:
    """Once an organization is deleted, the process has nothing that it noted about it."""
    org_id = organization.id

    async def delete(session: ClientSession) -> None:
        await begin_deletion(database, session, org_id, NOW)

    async with host(database, tmp_path) as projections:
        assert await count(projections, database, org_id) == 0
        assert [piece async for piece in projections.stream(org_id, Numbers())] == [0, 1]
        await projections.keep_up()
        opened = projections._open
        async with opened.using(org_id) as used:
            projection = used
        await opened.mend(org_id, projection, duckdb.FatalException("a test's"), is_reading=False)
        assert org_id in opened._mended_at
        assert org_id in projections._kept_up
        await in_transaction(database, delete)
        for _ in range(2):
            await projections.keep_up()
        kept = (
            projections._kept_up,
            projections._threads._turns,
            projections._long_threads._turns,
            opened._locks,
            opened._mended_at,
            opened._made_anew_at,
        )
        assert [list(noted) for noted in kept] == [[]] * len(kept)


async def test_an_error_of_one_file_keeps_no_other_from_being_kept_up(
    database: Database,
    make_organization: OrganizationFactory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The files of the others are brought up to date, and what is said in the log names the organization."""
    organizations = [await make_organization() for _ in range(2)]
    first, second = sorted(organization.id for organization in organizations)
    async with host(database, tmp_path) as projections:
        for org_id in (first, second):
            await store_blocks(database, org_id, 1, 10)
            assert await count(projections, database, org_id) == 10
        await store_blocks(database, second, 1, 10)
        attach = ColumnStore.attach

        def fail(self: ColumnStore, org_id: OrgId, now: datetime = NOW) -> ColumnFiles:
            if org_id == first:
                raise OSError("a test's")
            return attach(self, org_id, now)

        monkeypatch.setattr(ColumnStore, "attach", fail)
        monkeypatch.setattr(ColumnStore, "make_anew", fail)
        await projections._open.make_room(0)
        await projections.keep_up()
        async with projections._open.using(second) as kept_up:
            rows = kept_up.files.connection().execute("SELECT count(*) FROM clicks").fetchall()
    assert rows == [(20,)]
