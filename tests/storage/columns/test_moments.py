"""Moments of a file of columns: what one question works out is there for the next, while it is true."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest
from duckdb import DuckDBPyConnection

from backend.domain.analytics.measures import Measure
from backend.domain.analytics.period import QueryPeriod
from backend.domain.analytics.query import Query
from backend.domain.ids import OrgId
from backend.storage.analytics.answers.query import answer_query
from backend.storage.analytics.conditions.moment_answers import rows_once
from backend.storage.analytics.conditions.parameters import SqlParameters
from backend.storage.analytics.conditions.queried_period import QueriedPeriod
from backend.storage.analytics.measures.shares import shares_of
from backend.storage.analytics.question import FactsNotReady
from backend.storage.columns.tables import moments
from backend.storage.columns.tables.column_files import ColumnFiles
from backend.storage.columns.tables.staged import milliseconds
from backend.storage.columns.tables.store import ColumnStore, EngineBounds

START = datetime(2026, 5, 6, tzinfo=UTC)


@pytest.fixture
def file(tmp_path: Path) -> Iterator[ColumnFiles]:
    """An organization's file with nothing in it."""
    store = ColumnStore(tmp_path, EngineBounds())
    yield store.attach(OrgId("shop"), datetime.now(UTC))
    store.close()


BOTH = "SELECT (SELECT place FROM state), (SELECT count(*) FROM blocks)"


async def work_out(file: ColumnFiles, rows: int = 1) -> None:
    """Make a temporary table in a moment."""
    async with file.moments.now() as connection:
        connection.execute("CREATE OR REPLACE TEMP TABLE shares AS FROM range($rows)", {"rows": rows})


async def see(file: ColumnFiles) -> list[tuple[int, int]]:
    """How far the first file is in the next moment, and how many blocks are in that of the clicks."""
    async with file.moments.now() as connection:
        return connection.execute(BOTH).fetchall()


def is_worked_out(connection: DuckDBPyConnection) -> bool:
    """Whether the table is there."""
    has_shares = "SELECT 1 FROM duckdb_tables() WHERE temporary AND table_name = 'shares'"
    return connection.execute(has_shares).fetchone() is not None


async def knows(file: ColumnFiles) -> bool:
    """Whether the table is there in the next moment."""
    async with file.moments.now() as connection:
        return is_worked_out(connection)


async def test_until_something_changes(file: ColumnFiles) -> None:
    """A moment lasts until a fact comes or goes; then it is seen at once, and nothing older is there.

    What a question worked out while facts were written, or had begun before, is not there either.
    """
    await work_out(file)
    assert await knows(file)
    assert await knows(file)
    writes = file.connection()
    async with file.moments.changing():
        writes.execute("INSERT INTO tags VALUES ('t', 'Tag')")
    async with file.moments.now() as connection:
        assert connection.execute("SELECT name FROM tags").fetchall() == [("Tag",)]
        assert not is_worked_out(connection)
    async with file.moments.now() as moment:
        async with file.moments.changing():
            pass
        moment.execute("CREATE TEMP TABLE shares AS FROM range(1)")
    assert not await knows(file)


async def test_no_moment_is_between_transactions_of_a_write(
    file: ColumnFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who asks while several files are written waits, and sees all of them as they are then, or hears that it
    takes long; a moment that had begun sees all of them as they were, also those not looked at yet."""
    writes = file.written()
    clicks = writes.clicks_of(0)
    async with file.moments.now() as former:
        async with file.moments.changing():
            writes.connection.execute(f"INSERT INTO {clicks}.blocks VALUES (1, 'block', 0)")
            asking = asyncio.create_task(see(file))
            await asyncio.wait([asking], timeout=0.2)
            writes.connection.execute("UPDATE state SET place = 1")
        assert await asking == [(1, 1)]
        assert former.execute(BOTH).fetchall() == [(0, 0)]
    async with file.moments.changing():
        with monkeypatch.context() as patch:
            patch.setattr(moments, "_BEGUN_WITHIN", 0.01)
            with pytest.raises(FactsNotReady):
                await see(file)
    assert await see(file) == [(1, 1)]


async def test_no_moment_is_of_half_a_page(file: ColumnFiles) -> None:
    """Where a page fails between its transactions, no moment begins until it has been written again."""
    writes = file.written()

    async def fail() -> None:
        async with file.moments.changing():
            writes.connection.execute(f"INSERT INTO {writes.clicks_of(0)}.blocks VALUES (1, 'block', 0)")
            raise duckdb.IOException("no room")

    with pytest.raises(duckdb.IOException):
        await fail()
    asking = asyncio.create_task(see(file))
    await asyncio.wait([asking], timeout=0.2)
    async with file.moments.changing():
        writes.connection.execute("UPDATE state SET place = 1")
    assert await asking == [(1, 1)]


async def test_a_moment_comes_before_the_next_page(file: ColumnFiles) -> None:
    """However close pages follow one another, who asks while one is written waits for its end only."""
    pages = 0

    async def write() -> None:
        nonlocal pages
        while True:
            async with file.moments.changing():
                pages += 1
                await asyncio.sleep(0.01)

    writing = asyncio.create_task(write())
    await asyncio.sleep(0.005)
    for asked in range(1, 4):
        async with file.moments.now():
            assert pages <= asked + 1
    writing.cancel()


async def test_a_moment_is_one_questions(file: ColumnFiles) -> None:
    """Two at a time have a connection each. The newer is kept, or that in which questions took longer."""
    async with file.moments.now() as one, file.moments.now() as other:
        one.execute("CREATE TEMP TABLE shares AS FROM range(1000)")
        assert not is_worked_out(other)
    assert await knows(file)
    async with file.moments.now() as one, file.moments.now() as other:
        assert [is_worked_out(one), is_worked_out(other)] == [True, False]
    assert await knows(file)
    async with file.moments.now():
        async with file.moments.changing():
            pass
        await work_out(file)
    assert await knows(file)


async def test_what_fails_or_is_large_is_not_kept(file: ColumnFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    """A moment that was interrupted ends, as does one whose tables would take memory from others."""
    await work_out(file)

    async def fail() -> None:
        async with file.moments.now() as connection:
            connection.execute("FROM nowhere")

    with pytest.raises(duckdb.Error):
        await fail()
    assert not await knows(file)
    monkeypatch.setattr(moments, "_MOST_BYTES_KEPT", 1_000_000)
    await work_out(file, rows=100)
    assert await knows(file)
    await work_out(file, rows=1_000_000)
    assert not await knows(file)


async def test_a_kept_moment_holds_no_other_file(tmp_path: Path) -> None:
    """After credit was worked out in one organization's file, another's is closed, and opened as it was."""
    store = ColumnStore(tmp_path, EngineBounds())
    shop, other = (store.attach(OrgId(name), datetime.now(UTC)) for name in ("shop", "other"))
    other.connection().execute("UPDATE state SET place = 7")
    query = Query(period=QueryPeriod(START, START + timedelta(days=1), UTC), measures=(Measure.REVENUE,))
    async with shop.moments.now() as connection:
        connection.execute(
            'INSERT INTO tellings (record, number, "at") VALUES (1, 0, $1)', [milliseconds(START)]
        )
        answer_query(connection, query)
        period = QueriedPeriod.without_groups(connection, query)
        assert shares_of(connection, period, ["conversion"], SqlParameters()).digest
    other.close()
    opened = store.attach(OrgId("other"), datetime.now(UTC))
    assert opened.connection().execute("SELECT place FROM state").fetchone() == (7,)
    store.close()


async def test_a_file_that_is_closed_keeps_nothing(tmp_path: Path) -> None:
    """A question that goes on while its file is closed holds nothing once it ends: the file can be opened."""
    store = ColumnStore(tmp_path, EngineBounds())
    file = store.attach(OrgId("shop"), datetime.now(UTC))
    file.connection().execute("UPDATE state SET place = 7")
    async with file.moments.now() as connection:
        connection.execute("FROM tags")
        file.close()
    opened = store.attach(OrgId("shop"), datetime.now(UTC))
    assert opened.connection().execute("SELECT place FROM state").fetchone() == (7,)
    store.close()


async def test_what_is_read_once(file: ColumnFiles) -> None:
    """Facts are read once for a moment, and again for the next one, which sees what has changed."""
    tags = "SELECT name FROM tags"
    async with file.moments.now() as connection:
        first = rows_once(connection, tags)
        assert first == []
        assert rows_once(connection, tags) is first
    writes = file.connection()
    async with file.moments.changing():
        writes.execute("INSERT INTO tags VALUES ('t', 'Tag')")
    writes.close()
    async with file.moments.now() as connection:
        assert rows_once(connection, tags) == [("Tag",)]
