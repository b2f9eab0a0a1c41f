"""Moments of a file of columns: what questions see of it, whatever is written meanwhile."""

# ruff: noqa: S608 - names of temporary tables are our own

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from duckdb import DuckDBPyConnection

# A moment whose temporary tables have more rows than this is not kept: they take memory from other questions.
_MOST_ROWS_KEPT = 500_000
_TABLES = "SELECT table_name FROM duckdb_tables() WHERE temporary"


class _Moment(NamedTuple):
    """A connection inside a transaction, and what the table `state` says there."""

    connection: DuckDBPyConnection
    state: list[tuple[Any, ...]]

    @property
    def rows(self) -> int:
        """How many rows its temporary tables have."""
        # What duckdb_tables() says of their sizes leaves out what the transaction itself has written.
        names = [name for (name,) in self.connection.execute(_TABLES).fetchall()]
        sizes = [self.connection.execute(f"SELECT count(*) FROM temp.{name}").fetchall() for name in names]
        return sum(rows for [(rows,)] in sizes)

    def end(self) -> None:
        """End the transaction, with all temporary tables that were made in it."""
        self.connection.close()


class Moments:
    """The moments of one file. The last one is kept for the next who asks, until something changes.

    So credit that was worked out for one question is there for the next, as temporary tables.
    """

    def __init__(self, connect: Callable[[], DuckDBPyConnection]) -> None:
        """`connect` opens a connection that sees the file's tables."""
        self._connect = connect
        self._kept: _Moment | None = None
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def now(self) -> Iterator[DuckDBPyConnection]:
        """A connection that sees everything as it is now, for the block, in which nobody else has it."""
        moment = self._now()
        try:
            yield moment.connection
            self._keep(moment)
        except BaseException:
            moment.end()
            raise

    def forget(self) -> None:
        """End the moment that is kept, before something is written: what its log has would stay there."""
        if moment := self._take():
            moment.end()

    def _now(self) -> _Moment:
        moment, kept = self._begin(), self._take()
        if kept is None:
            return moment
        last, first = (moment, kept) if kept.state == moment.state else (kept, moment)
        last.end()
        return first

    def _begin(self) -> _Moment:
        connection = self._connect()
        try:
            connection.execute("BEGIN TRANSACTION")
            return _Moment(connection, connection.execute("FROM state").fetchall())
        except BaseException:
            connection.close()
            raise

    def _take(self) -> _Moment | None:
        with self._lock:
            kept, self._kept = self._kept, None
        return kept

    def _keep(self, moment: _Moment) -> None:
        """Keep this moment, or the one that is kept already if more was worked out in that."""
        best, other = moment, self._take()
        if other and other.state == moment.state and other.rows > moment.rows:
            best, other = other, moment
        if other:
            other.end()
        if best.rows > _MOST_ROWS_KEPT:
            best.end()
            return
        with self._lock:
            best_before, self._kept = self._kept, best
        if best_before:  # another thread's, put there since
            best_before.end()
