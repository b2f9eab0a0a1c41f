"""Moments of an organization's files: what questions see of them, whatever is written meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from duckdb import DuckDBPyConnection

from backend.storage.analytics.question import FactsNotReady

# While temporary tables of all files take more memory than this, no further moment is kept.
_MOST_BYTES_KEPT = 48_000_000
# What begins in each file what the transaction sees of it: DuckDB does that as a file is first read.
_LOOK_AT_ALL = "SELECT (SELECT count(*) FROM state), (SELECT count(*) FROM blocks)"
# Seconds that whoever asks waits for a write, which is short unless facts are made anew.
_SETTLED_WITHIN = 3.0
_BYTES = "SELECT memory_usage_bytes FROM duckdb_memory() WHERE tag = 'IN_MEMORY_TABLE'"


@dataclass(slots=True)
class _Moment:
    """A connection inside a transaction, and how often the files had changed when that began.

    `seconds` is how long questions have been answered in it. Nothing may ask in it for what lists the tables
    of all databases, such as duckdb_tables(): then no file that was open could be closed until it ends.
    """

    connection: DuckDBPyConnection
    changes: int
    seconds: float = 0.0

    def end(self) -> None:
        """End the transaction, with all temporary tables that were made in it."""
        self.connection.close()


class Moments:
    """The moments of an organization's files. The last is kept for who asks next, until something changes.

    So credit that was worked out for one question is there for the next, as temporary tables.
    """

    def __init__(self, connect: Callable[[], DuckDBPyConnection]) -> None:
        """`connect` opens a connection that sees the tables of all files."""
        self._connect = connect
        self._kept: _Moment | None = None
        self._changes = 0
        self._is_closed = False
        self._lock = threading.Lock()
        self._is_settled = threading.Event()
        self._is_settled.set()

    async def until_settled(self) -> None:
        """Return when a moment can begin at once, for whoever begins one where writers go on, too.

        Raises FactsNotReady where that takes long.
        """
        while not self._is_settled.is_set():
            if not await asyncio.to_thread(self._is_settled.wait, _SETTLED_WITHIN):
                raise FactsNotReady

    @contextlib.contextmanager
    def now(self) -> Iterator[DuckDBPyConnection]:
        """A connection that sees everything as it is now, for the block, in which nobody else has it.

        Raises FactsNotReady where that would have to wait for long.
        """
        moment, began = self._exchange(None) or self._begin(), time.monotonic()
        try:
            yield moment.connection
            moment.seconds += time.monotonic() - began
            self._keep(moment)
        except BaseException:
            moment.end()
            raise

    @contextlib.contextmanager
    def changing(self) -> Iterator[None]:
        """A block that writes to the files. What questions see before its end is not kept for later ones.

        It takes several transactions, one for each file, so no moment begins before its end. The kept moment
        ends at once: with an open transaction DuckDB would not empty its log after a write.
        """
        self._is_settled.clear()
        self._forget()
        try:
            yield
        finally:
            with self._lock:
                self._changes += 1
            self._is_settled.set()
            self._forget()

    def close(self) -> None:
        """Keep no moment any more, also of those that are in use."""
        self._is_closed = True
        self._forget()

    def _forget(self) -> None:
        if moment := self._exchange(None):
            moment.end()

    def _begin(self) -> _Moment:
        while self._is_settled.wait(_SETTLED_WITHIN):
            changes = self._changes
            moment = _Moment(self._connect(), changes)
            try:
                moment.connection.execute("BEGIN TRANSACTION")
                moment.connection.execute(_LOOK_AT_ALL)
            except BaseException:
                moment.end()
                raise
            if self._is_settled.is_set() and moment.changes == self._changes:
                return moment
            moment.end()
        raise FactsNotReady

    def _keep(self, moment: _Moment) -> None:
        """Keep this moment, or the kept one if that is newer, or questions took longer in it."""
        kept = self._exchange(None)
        if kept and (kept.changes, kept.seconds) > (moment.changes, moment.seconds):
            moment, kept = kept, moment
        if kept:
            kept.end()
        [(size,)] = moment.connection.execute(_BYTES).fetchall()
        former = moment if size > _MOST_BYTES_KEPT else self._exchange(moment)
        if former:
            former.end()

    def _exchange(self, moment: _Moment | None) -> _Moment | None:
        """Keep this moment, if the file is open and has not changed since it began.

        Returns the one that is to be ended, or used, instead.
        """
        with self._lock:
            if moment and (self._is_closed or moment.changes != self._changes):
                return moment
            former, self._kept = self._kept, moment
            return former
