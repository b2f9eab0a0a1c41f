"""Projections: organizations' facts in columns, kept up to date from their feeds, which answer questions."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import AsyncGenerator, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import duckdb

from backend.domain.analytics.notes import note_on_waiting
from backend.domain.feed.cursor import Cursor
from backend.domain.ids import OrgId
from backend.storage.accounts.deleted_organizations import find_deleted
from backend.storage.accounts.organizations import AskedSettings, find_asked_settings
from backend.storage.analytics.question import Facts, FactsNotReady, LongQuestion, NoAnswer, Question, TooMuch
from backend.storage.clicks.blocks import mark_unreadable
from backend.storage.columns.applying import apply
from backend.storage.columns.loading import load
from backend.storage.columns.tables.forgetting import expire, has_expired
from backend.storage.columns.tables.store import ColumnFile, ColumnStore
from backend.storage.columns.tables.transactions import to_its_end
from backend.storage.driver.mongo import Database
from backend.storage.feed.following import is_ahead
from backend.storage.feed.packed import read_packed
from backend.storage.outbox.sequencer import place_all, waits_since
from backend.system.clock import Clock

ResultT = TypeVar("ResultT")
# Files that are open at a time: each takes three megabytes and more, which questions then lack.
_MOST_OPEN_FILES = 8
# How long a question waits for facts that are made anew before FactsNotReady is raised.
_CATCH_UP_SECONDS = 3.0
_QUESTION_THREADS = 4
_COMPARE_SECONDS = 60.0
_PLACING_SECONDS = 1.0
_logger = logging.getLogger(__name__)


class Projections:
    """Answers questions of organizations from their facts, which it brings up to date first."""

    def __init__(self, database: Database, store: ColumnStore, clock: Clock, seconds: float) -> None:
        """A question that takes longer than so many seconds is given up."""
        self._database = database
        self._store = store
        self._clock = clock
        self._seconds = seconds
        self._open: dict[OrgId, _Projection] = {}
        self._opening = asyncio.Lock()
        self._threads = ThreadPoolExecutor(_QUESTION_THREADS, thread_name_prefix="question")

    async def close(self) -> None:
        """Stop what goes on, and close all files."""
        for org_id in list(self._open):
            await self._open.pop(org_id).close()
        self._threads.shutdown()
        self._store.close()

    async def ask(self, org_id: OrgId, questions: Sequence[Question[Any]]) -> list[Any]:
        """The answers, all as of one moment: everything that was committed when it was asked is in them.

        Without a majority of MongoDB's members, something may be missing; the facts' notes then say so.

        Raises FactsNotReady, NoAnswer, StorageError, and what the questions raise.
        """
        try:
            return await self._ask(org_id, questions)
        except duckdb.OutOfMemoryException:
            await self._make_room(0)
        try:
            return await self._ask(org_id, questions)
        except duckdb.OutOfMemoryException:
            raise _out_of_memory() from None

    async def _ask(self, org_id: OrgId, questions: Sequence[Question[Any]]) -> list[Any]:
        projection = await self._up_to_date(org_id)
        with projection.used():
            return await self._within_time(_Work(projection, questions, self._clock(), self._store.files))

    async def stream(self, org_id: OrgId, question: LongQuestion[ResultT]) -> AsyncGenerator[ResultT, None]:
        """The answer piece by piece, all as of one moment. Raises as `ask`."""
        projection = await self._up_to_date(org_id)
        with projection.used(), projection.file.moments.now() as connection:
            facts = projection.facts(connection, self._clock(), self._store.files)
            pieces = question.pieces(facts)
            try:
                while (piece := await self._next_of(pieces, connection)) is not None:
                    yield piece
            except duckdb.OutOfMemoryException:
                raise _out_of_memory() from None
            except (duckdb.Error, OSError) as error:
                raise NoAnswer(f"The answer can't be made: {error}") from error
            finally:
                pieces.close()

    async def _next_of(
        self, pieces: Generator[ResultT, None, None], connection: duckdb.DuckDBPyConnection
    ) -> ResultT | None:
        """The next piece, made in a thread; None at the end. Who gives up waits for the thread to stop."""
        making = asyncio.get_running_loop().run_in_executor(self._threads, next, pieces, None)
        try:
            return await asyncio.shield(making)
        finally:
            while not making.done():  # again and again, since it may be between two questions to DuckDB
                connection.interrupt()
                await asyncio.wait([making], timeout=0.05)
            making.exception()

    async def keep_up(self) -> None:
        """Bring every file that there is up to date, and delete those of organizations that are no more."""
        for org_id in self._store.org_ids():
            with suppress(FactsNotReady, NoAnswer):
                projection = await self._up_to_date(org_id)
                if projection.has_forgotten():
                    await self._rewrite(org_id, projection)

    async def _rewrite(self, org_id: OrgId, projection: _Projection) -> None:
        """Write the file anew, unless somebody uses it just now."""
        async with self._opening:
            if projection.users or self._open.get(org_id) is not projection:
                return
            del self._open[org_id]
            await projection.close()
            await asyncio.to_thread(self._store.rewrite, org_id)

    async def _up_to_date(self, org_id: OrgId) -> _Projection:
        projection = await self._projection(org_id)
        with projection.used():
            deleted, _ = await asyncio.gather(
                find_deleted(self._database, [org_id]), projection.catch_up(self._clock)
            )
        if deleted:
            await self._forget(org_id)
            raise NoAnswer("The organization is deleted.")
        return projection

    async def _projection(self, org_id: OrgId) -> _Projection:
        async with self._opening:
            projection = self._open.pop(org_id, None)
            if projection and not projection.file.is_there:
                await projection.close()
                projection = None
            if projection is None:
                projection = await self._opened(org_id)
            self._open[org_id] = projection  # the last, as the one that was used last
            return projection

    async def _opened(self, org_id: OrgId) -> _Projection:
        await self._make_room()
        try:
            file = await asyncio.to_thread(self._store.attach, org_id, self._clock())
        except (duckdb.Error, OSError) as error:
            raise NoAnswer(f"The file of the organization's figures can't be opened: {error}") from None
        return _Projection(self._database, org_id, file)

    async def _make_room(self, most: int = _MOST_OPEN_FILES - 1) -> None:
        """Close files that nobody uses, those that were used last at the end, until so many are open."""
        unused = [org_id for org_id, projection in self._open.items() if not projection.users]
        for org_id in unused[: max(0, len(self._open) - most)]:
            await self._open.pop(org_id).close()

    async def _forget(self, org_id: OrgId) -> None:
        if projection := self._open.pop(org_id, None):
            await projection.close()
        self._store.delete(org_id)

    async def _within_time(self, work: _Work) -> list[Any]:
        answering = asyncio.get_running_loop().run_in_executor(self._threads, work)
        try:
            async with asyncio.timeout(self._seconds):
                return await asyncio.shield(answering)
        except TimeoutError:
            raise TooMuch(
                f"The answer takes longer than {self._seconds:g} s: ask for a shorter period, or less in it."
            ) from None
        except duckdb.OutOfMemoryException:
            raise
        except duckdb.Error as error:
            raise NoAnswer(f"The figures can't be read: {error}") from error
        finally:
            if not answering.done():
                work.give_up()
                answering.add_done_callback(lambda answered: answered.exception())


def _out_of_memory() -> TooMuch:
    return TooMuch(
        "The answer needs more memory than WAYLINK_ANALYTICS_MEMORY allows: ask for a shorter period, or for "
        "less in it."
    )


class _Work:
    """Questions that are answered in a thread, and can be given up."""

    def __init__(
        self, projection: _Projection, questions: Sequence[Question[Any]], now: datetime, files: Path
    ) -> None:
        self._projection = projection
        self._questions = questions
        self._now = now
        self._files = files
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._lock = threading.Lock()
        self._is_given_up = False

    def __call__(self) -> list[Any]:
        with self._projection.file.moments.now() as connection:
            self._connection = connection
            facts = self._projection.facts(connection, self._now, self._files)
            try:
                return [question.answer(facts) for question in self._questions if not self._is_given_up]
            finally:
                with self._lock:  # from now on others may ask by this connection
                    self._connection = None

    def give_up(self) -> None:
        """Let the thread end soon: nobody waits for the answer."""
        self._is_given_up = True
        with self._lock:
            if self._connection:
                self._connection.interrupt()


class _Projection:
    """One organization's facts. Whoever asks while they are brought up to date waits for the next round."""

    def __init__(self, database: Database, org_id: OrgId, file: ColumnFile) -> None:
        self.file = file
        self.users = 0
        self._settings = AskedSettings()
        self._waits_since: datetime | None = None
        self._place: int | None = None
        self._database = database
        self._org_id = org_id
        self._running: asyncio.Task[None] | None = None
        self._next: asyncio.Task[None] | None = None
        self._clicks_loaded = 0
        self._compare_at = 0.0
        self._writes = file.connection()

    async def close(self) -> None:
        """Stop, and close the file."""
        for task in (self._next, self._running):
            if task:
                task.cancel()
        await asyncio.gather(*filter(None, (self._next, self._running)), return_exceptions=True)
        self._writes.close()
        self.file.close()

    def facts(self, connection: duckdb.DuckDBPyConnection, now: datetime, files: Path) -> Facts:
        """What questions get that are asked by this connection."""
        settings = self._settings
        notes = [note_on_waiting(self._waits_since)] if self._waits_since else []
        return Facts(connection, settings.retention_days, now, files, settings.event_properties, notes)

    @contextmanager
    def used(self) -> Iterator[None]:
        """A block in which the file is not closed."""
        self.users += 1
        try:
            yield
        finally:
            self.users -= 1

    async def catch_up(self, clock: Clock) -> None:
        """Read the feed up to what is committed now. Raises FactsNotReady if that takes long, as at first."""
        if self._next is None:
            self._next = asyncio.create_task(self._after(self._running, clock))
        waited_for = self._next
        try:
            async with asyncio.timeout(_CATCH_UP_SECONDS):
                await asyncio.shield(waited_for)
        except TimeoutError:
            raise FactsNotReady(self._clicks_loaded) from None

    async def _after(self, running: asyncio.Task[None] | None, clock: Clock) -> None:
        if running:
            await asyncio.wait([running])
        self._running, self._next = self._next, None
        try:
            await self._read(clock)
        except duckdb.Error as error:
            raise NoAnswer(f"The figures can't be brought up to date: {error}") from error

    async def _read(self, clock: Clock) -> None:
        now = clock()
        known, self._place = self._place, None  # if this is interrupted, the file says how far it came
        place = await self._loaded_place(known)
        self._settings, _ = await asyncio.gather(
            find_asked_settings(self._database, self._org_id), self._place_all()
        )
        has_more = True
        while has_more:
            page = await read_packed(self._database, self._org_id, Cursor(place))
            has_more, place = page.has_more, page.next_cursor.place
            if page.entries:
                with self.file.moments.changing():
                    await self._mark(await apply(self._database, self._org_id, self._writes, page))
        await self._expire(now)
        self._place = place

    async def _loaded_place(self, known: int | None) -> int:
        """How far the feed was read. Everything is loaded first if it never was, or from another feed."""
        place = self._stored_place() if known is None else known
        if place is None or await self._is_of_another_feed(place):
            with self.file.moments.changing():
                await self._mark(await load(self._database, self._org_id, self._writes, self._note))
            place = self._stored_place()
            assert place is not None
        return place

    async def _expire(self, now: datetime) -> None:
        if (days := self._settings.retention_days) is None:
            return
        oldest = now - timedelta(days=days)
        if await to_its_end(partial(has_expired, self._writes, oldest)):
            with self.file.moments.changing():
                await to_its_end(partial(expire, self._writes, oldest))

    async def _place_all(self) -> None:
        """Give what waits its place in the feed. Without a majority nothing gets one: answers say that it is
        missing."""
        self._waits_since = None
        try:
            async with asyncio.timeout(_PLACING_SECONDS):
                await place_all(self._database, self._org_id)
        except TimeoutError:
            self._waits_since = await waits_since(self._database, self._org_id)

    async def _is_of_another_feed(self, place: int) -> bool:
        """Whether the organization's feed has not come so far: it was restored from an older archive.

        Looked at now and then: it was deleted before that, which takes minutes.
        """
        if time.monotonic() < self._compare_at:
            return False
        self._compare_at = time.monotonic() + _COMPARE_SECONDS
        return await is_ahead(self._database, self._org_id, Cursor(place))

    async def _mark(self, unreadable: Sequence[str]) -> None:
        """Note in MongoDB which blocks can't be read, so that somebody is told."""
        if unreadable:
            await mark_unreadable(self._database, unreadable)

    def _note(self, clicks: int) -> None:
        self._clicks_loaded = clicks

    def has_forgotten(self) -> bool:
        """Whether the file may have bytes of data about people that was deleted."""
        return self._writes.execute("SELECT forgotten > 0 FROM state").fetchone() == (True,)

    def _stored_place(self) -> int | None:
        """How far the feed was read into the file; None if not everything before it is there."""
        stored = self._writes.execute("SELECT place FROM state WHERE is_loaded").fetchone()
        return stored[0] if stored else None
