"""Many organizations on a host: what is done for one neither stops the others nor is lost."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import duckdb
import httpx
import pytest

from backend.domain.ids import OrgId
from backend.storage.accounts.deleted_organizations import begin_deletion
from backend.storage.accounts.organizations import set_retention_days
from backend.storage.analytics.question import Facts, LongQuestion, NoAnswer, Question, TooMuch
from backend.storage.columns.applying import apply
from backend.storage.columns.loading import load
from backend.storage.columns.projections import Projections
from backend.storage.columns.tables.column_files import ColumnFiles
from backend.storage.columns.tables.state import read_state
from backend.storage.columns.tables.store import ColumnStore, EngineBounds
from backend.storage.columns.tables.transactions import to_its_end
from backend.storage.driver.mongo import ClientSession, Database, in_transaction
from backend.storage.feed.packed import read_packed
from tests.conftest import OrganizationFactory
from tests.facts.feeds import place_all
from tests.facts.organizations import TestOrganization
from tests.facts.told_history import tell_history
from tests.polling import until
from tests.storage.columns.heavy_feeds import store_blocks
from tests.storage.columns.hosts import CountClicks, count, host, is_ready

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
_begun, _let_go = threading.Event(), threading.Event()
# As many threads as asyncio has for calls that wait.
MOST_THREADS = min(32, (os.cpu_count() or 1) + 4)


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


class InterruptedConnection:
    """A connection between whose statements something else is done."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, between: Callable[[], None]) -> None:
        self._connection = connection
        self._between = between

    def execute(self, *arguments: Any) -> duckdb.DuckDBPyConnection:
        """Execute the statement, and then do what is done between statements."""
        self._connection.execute(*arguments)
        self._between()
        return self._connection


class LargeInPieces(LongQuestion[int]):
    """The same, in a long answer."""

    def pieces(self, facts: Facts) -> Generator[int, None, None]:
        """Collects what can't be spilled."""
        yield Large().answer(facts)


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


async def test_what_is_written_holds_no_file_of_others(
    client: httpx.AsyncClient,
    database: Database,
    make_organization: OrganizationFactory,
    organization: TestOrganization,
    tmp_path: Path,
) -> None:
    """Between any two statements of a load and of a page, another's files are closed, and opened again."""
    other = OrgId("other")
    store = ColumnStore(tmp_path, EngineBounds())
    files = [store.attach(other, NOW)]

    def reopen() -> None:
        files.pop().close()
        files.append(store.attach(other, NOW))

    columns = store.attach(organization.id, NOW).written()
    interrupted = columns._replace(connection=cast("Any", InterruptedConnection(columns.connection, reopen)))
    before = read_state(columns.connection).cursor
    await tell_history(client, organization, database)
    await place_all(database, organization.id)
    for _ in range(2):  # into empty tables, and into filled ones
        await load(database, organization.id, interrupted)
    page = await read_packed(database, organization.id, before)
    assert page.entries
    await apply(database, organization.id, interrupted, page)
    store.close()


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


async def test_nobody_waits_for_damaged_files_of_others(
    database: Database,
    make_organization: OrganizationFactory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """While files of many are read as a whole, as after trouble with a disk, those of others are opened."""
    *damaged, other = [await make_organization() for _ in range(MOST_THREADS + 1)]
    goes_on = threading.Event()

    def read(*_: Any) -> bool:
        return goes_on.wait(60)

    async with host(database, tmp_path) as projections:
        opened = projections._open
        monkeypatch.setattr(opened, "_can_be_read", read)

        async def mend(org_id: OrgId) -> None:
            for _ in range(2):  # the second time, they are read
                async with opened.using(org_id) as used:
                    projection = used
                await opened.mend(org_id, projection, duckdb.FatalException("a test's"), is_reading=True)

        mending = [asyncio.create_task(mend(org.id)) for org in damaged]
        try:
            await until(lambda: len(opened._mended_at) == len(damaged), "they are not opened again")
            await asyncio.sleep(0.5)
            async with asyncio.timeout(5):
                assert await count(projections, database, other.id) == 0
        finally:
            goes_on.set()
        for error in await asyncio.gather(*mending, return_exceptions=True):
            assert isinstance(error, NoAnswer)


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
