"""Moments of a file of columns: what questions see of it, whatever is written meanwhile."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from duckdb import DuckDBPyConnection

# While temporary tables of all files take more memory than this, no further moment is kept.
_MOST_BYTES_KEPT = 48_000_000
_BYTES = "SELECT memory_usage_bytes FROM duckdb_memory() WHERE tag = 'IN_MEMORY_TABLE'"


@dataclass(slots=True)
class _Moment:
    """A connection inside a transaction, and what the table `state` says there.

    `seconds` is how long questions have been answered in it. Nothing may ask in it for what lists the tables
    of all databases, such as duckdb_tables(): then no file that was open could be closed until it ends.
    """

    connection: DuckDBPyConnection
    state: list[tuple[Any, ...]]
    seconds: float = 0.0

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
        self._is_closed = False
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def now(self) -> Iterator[DuckDBPyConnection]:
        """A connection that sees everything as it is now, for the block, in which nobody else has it."""
        moment, began = self._now(), time.monotonic()
        try:
            yield moment.connection
            moment.seconds += time.monotonic() - began
            self._keep(moment)
        except BaseException:
            moment.end()
            raise

    def forget(self) -> None:
        """End the kept moment. An open transaction would keep DuckDB from emptying its log after a write."""
        if moment := self._exchange(None):
            moment.end()

    def close(self) -> None:
        """Keep no moment any more, also of those that are in use."""
        self._is_closed = True
        self.forget()

    def _now(self) -> _Moment:
        moment, kept = self._begin(), self._exchange(None)
        if kept is None:
            return moment
        ended, used = (moment, kept) if kept.state == moment.state else (kept, moment)
        ended.end()
        return used

    def _begin(self) -> _Moment:
        connection = self._connect()
        try:
            connection.execute("BEGIN TRANSACTION")
            return _Moment(connection, connection.execute("FROM state").fetchall())
        except BaseException:
            connection.close()
            raise

    def _keep(self, moment: _Moment) -> None:
        """Keep this moment, or the one that is kept already if questions took longer in that."""
        kept = self._exchange(None)
        if kept and kept.state == moment.state and kept.seconds > moment.seconds:
            moment, kept = kept, moment
        if kept:
            kept.end()
        [(size,)] = moment.connection.execute(_BYTES).fetchall()
        former = moment if size > _MOST_BYTES_KEPT else self._exchange(moment)
        if former:
            former.end()

    def _exchange(self, moment: _Moment | None) -> _Moment | None:
        """Keep this moment, if the file is open. Returns the one that is to be ended, or used, instead."""
        with self._lock:
            if moment and self._is_closed:
                return moment
            former, self._kept = self._kept, moment
            return former
