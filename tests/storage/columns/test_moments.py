"""Moments of a file of columns: what one question works out is there for the next, while it is true."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest
from duckdb import DuckDBPyConnection

from backend.domain.ids import OrgId
from backend.storage.columns.tables import moments
from backend.storage.columns.tables.forgetting import note_forgotten
from backend.storage.columns.tables.store import ColumnFile, ColumnStore, EngineBounds
from backend.storage.columns.tables.transactions import transaction


@pytest.fixture
def file(tmp_path: Path) -> Iterator[ColumnFile]:
    """An organization's file with nothing in it."""
    store = ColumnStore(tmp_path, EngineBounds())
    yield store.attach(OrgId("shop"), datetime.now(UTC))
    store.close()


def work_out(file: ColumnFile, rows: int = 1) -> None:
    """Make a temporary table in a moment."""
    with file.moments.now() as connection:
        connection.execute("CREATE OR REPLACE TEMP TABLE shares AS FROM range($rows)", {"rows": rows})


def is_worked_out(connection: DuckDBPyConnection) -> bool:
    """Whether the table is there."""
    has_shares = "SELECT 1 FROM duckdb_tables() WHERE temporary AND table_name = 'shares'"
    return connection.execute(has_shares).fetchone() is not None


def knows(file: ColumnFile) -> bool:
    """Whether the table is there in the next moment."""
    with file.moments.now() as connection:
        return is_worked_out(connection)


def test_until_something_changes(file: ColumnFile) -> None:
    """A moment lasts until a fact comes or goes; then it is seen at once, and nothing older is there."""
    work_out(file)
    assert knows(file)
    assert knows(file)
    writes = file.connection()
    with transaction(writes):
        writes.execute("INSERT INTO tags VALUES ('t', 'Tag')")
        writes.execute("UPDATE state SET place = 1")
    with file.moments.now() as connection:
        assert connection.execute("SELECT name FROM tags").fetchall() == [("Tag",)]
        assert not is_worked_out(connection)
    work_out(file)
    with transaction(writes):
        note_forgotten(writes)
    assert not knows(file)


def test_a_moment_is_one_questions(file: ColumnFile) -> None:
    """Two at a time have a connection each, and of these the one in which more was worked out is kept."""
    with file.moments.now() as one, file.moments.now() as other:
        one.execute("CREATE TEMP TABLE shares AS FROM range(1000)")
        assert not is_worked_out(other)
        one.execute("INSERT INTO shares FROM range(10)")
    assert knows(file)
    with file.moments.now() as one, file.moments.now() as other:
        assert [is_worked_out(one), is_worked_out(other)] == [True, False]
    assert knows(file)


def test_what_fails_or_is_large_is_not_kept(file: ColumnFile, monkeypatch: pytest.MonkeyPatch) -> None:
    """A moment that was interrupted ends, as does one whose tables would take memory from others."""
    work_out(file)
    with pytest.raises(duckdb.Error), file.moments.now() as connection:
        connection.execute("FROM nowhere")
    assert not knows(file)
    monkeypatch.setattr(moments, "_MOST_ROWS_KEPT", 100)
    work_out(file, rows=100)
    assert knows(file)
    work_out(file, rows=101)
    assert not knows(file)
