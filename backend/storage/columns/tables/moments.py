"""Moments of an organization's files: what questions see of them, whatever is written meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass

from duckdb import DuckDBPyConnection

from backend.storage.analytics.question import FactsNotReady
from backend.storage.columns.tables.transactions import read_to_its_end

# While temporary tables of all files take more memory than this, no further moment is kept.
_MOST_BYTES_KEPT = 48_000_000
# What begins in each file what the transaction sees of it: DuckDB does that as a file is first read.
_LOOK_AT_ALL = "SELECT (SELECT count(*) FROM state), (SELECT count(*) FROM blocks)"
# Seconds that whoever asks waits for a write, which is short unless facts are made anew.
_BEGUN_WITHIN = 3.0
_BYTES = "SELECT memory_usage_bytes FROM duckdb_memory() WHERE tag = 'IN_MEMORY_TABLE'"


@dataclass(slots=True)
class OpenMoment:
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

    @contextlib.contextmanager
    def asked(self, moments: Moments) -> Iterator[DuckDBPyConnection]:
        """The connection, for a block in which a question is answered. The moment may be kept then."""
        began = time.monotonic()
        try:
            yield self.connection
            self.seconds += time.monotonic() - began
            moments.keep(self)
        except BaseException:
            self.end()
            raise


class Moments:
    """The moments of an organization's files. The last is kept for who asks next, until something changes.

    So credit that was worked out for one question is there for the next, as temporary tables.
    """

    def __init__(self, connect: Callable[[], DuckDBPyConnection]) -> None:
        """`connect` opens a connection that sees the tables of all files."""
        self._connect = connect
        self._kept: OpenMoment | None = None
        self._changes = 0
        self._is_closed = False
        self._lock = threading.Lock()
        # Of who writes and who begins a moment, in the order in which they come.
        self._turn = asyncio.Lock()
        self._whole = asyncio.Event()  # set unless a write goes on, or has ended between its transactions
        self._whole.set()

    @contextlib.asynccontextmanager
    async def now(self) -> AsyncIterator[DuckDBPyConnection]:
        """A connection that sees everything as it is now, for the block, in which nobody else has it.

        Raises FactsNotReady as `begun`.
        """
        with (await self.begun()).asked(self) as connection:
            yield connection

    async def begun(self) -> OpenMoment:
        """A moment of now, for whoever asks in it then (`OpenMoment.asked`).

        Takes no thread while it waits for what is written, and its turn comes before that of the next page.
        Raises FactsNotReady where that takes long.
        """
        if kept := self._exchange(None):
            return kept
        try:
            async with asyncio.timeout(_BEGUN_WITHIN):
                while True:
                    async with self._turn:
                        if self._whole.is_set():
                            return await self._begun()
                    await self._whole.wait()
        except TimeoutError:
            raise FactsNotReady from None

    @contextlib.asynccontextmanager
    async def changing(self) -> AsyncIterator[None]:
        """A block that writes to the files. What questions see before its end is not kept for later ones.

        It takes several transactions, one for each file, so no moment begins before its end, and where it
        fails, before that of the next one that succeeds. The kept moment ends at once: with an open
        transaction DuckDB would not empty its log after a write.
        """
        async with self._turn:
            self._forget()
            self._whole.clear()
            try:
                yield
                self._whole.set()
            finally:
                with self._lock:
                    self._changes += 1
                self._forget()

    def close(self) -> None:
        """Keep no moment any more, also of those that are in use."""
        self._is_closed = True
        self._forget()

    def _forget(self) -> None:
        if moment := self._exchange(None):
            moment.end()

    async def _begun(self) -> OpenMoment:
        begun: list[OpenMoment] = []
        try:
            await read_to_its_end(lambda: begun.append(self._begin()))
        except BaseException:
            for moment in begun:  # whoever wanted it has given up
                moment.end()
            raise
        return begun[0]

    def _begin(self) -> OpenMoment:
        moment = OpenMoment(self._connect(), self._changes)
        try:
            moment.connection.execute("BEGIN TRANSACTION")
            moment.connection.execute(_LOOK_AT_ALL)
        except BaseException:
            moment.end()
            raise
        return moment

    def keep(self, moment: OpenMoment) -> None:
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

    def _exchange(self, moment: OpenMoment | None) -> OpenMoment | None:
        """Keep this moment, if the file is open and has not changed since it began.

        Returns the one that is to be ended, or used, instead.
        """
        with self._lock:
            if moment and (self._is_closed or moment.changes != self._changes):
                return moment
            former, self._kept = self._kept, moment
            return former
