"""Projections: organizations' facts in columns, kept up to date from their feeds, which answer questions."""

from __future__ import annotations

import asyncio
import logging
import platform
import threading
import time
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Iterator,
    Sequence,
)
from contextlib import asynccontextmanager, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import duckdb

from backend.concurrency.cancellation import until_ended
from backend.domain.ids import OrgId
from backend.storage.accounts.deleted_organizations import find_deleted
from backend.storage.analytics.file_troubles import FileTroubles
from backend.storage.analytics.question import (
    FactsNotReady,
    LongQuestion,
    NoAnswer,
    NotNow,
    Question,
    TooMuch,
)
from backend.storage.columns.open_projections import OpenProjections
from backend.storage.columns.projection import Projection
from backend.storage.columns.question_threads import QuestionThreads
from backend.storage.columns.tables.errors import is_disk_full, is_of_file
from backend.storage.columns.tables.moments import OpenMoment
from backend.storage.columns.tables.store import ColumnStore
from backend.storage.driver.mongo import Database, StorageError
from backend.storage.processes.items import Items
from backend.storage.processes.work import Work
from backend.storage.schema.work_item import WorkItem
from backend.system.clock import Clock

ResultT = TypeVar("ResultT")
# Threads for questions, and for long answers, with those that one organization may have at a time.
_THREADS, _THREADS_OF_ONE = 8, 2
_LONG_THREADS, _LONG_THREADS_OF_ONE = 4, 1
# How often an answer is tried: with the file as it is, opened again, and made anew.
_MOST_TRIES = 3
# Until a file that could not be kept up is tried again. What is erased is to be gone within the hour.
_LONGEST_PAUSE = timedelta(minutes=10)
_logger = logging.getLogger(__name__)


class _OfFile(Exception):
    """An error that the file may be to blame for, which is its cause."""

    def __init__(self, projection: Projection, error: duckdb.Error, *, is_reading: bool) -> None:
        super().__init__(str(error))
        self.projection = projection
        self.error = error
        self.is_reading = is_reading


class Projections:
    """Answers questions of organizations from their facts, which it brings up to date first."""

    def __init__(self, database: Database, store: ColumnStore, clock: Clock, seconds: float) -> None:
        """A question that takes longer than so many seconds is given up."""
        self._database = database
        self._store = store
        self._clock = clock
        self._seconds = seconds
        self._open = OpenProjections(database, store, FileTroubles(store.folder), clock)
        self._items = Items(database, Work.COLUMNS, _LONGEST_PAUSE)
        self._threads = QuestionThreads("question", _THREADS, _THREADS_OF_ONE)
        self._long_threads = QuestionThreads("long-answer", _LONG_THREADS, _LONG_THREADS_OF_ONE)
        self._keeping_up: asyncio.Task[None] | None = None
        self._kept_up: dict[OrgId, float] = {}  # when, by time.monotonic

    async def close(self) -> None:
        """Stop what goes on, and close all files."""
        if self._keeping_up:
            self._keeping_up.cancel()
            await asyncio.wait([self._keeping_up])
        await self._open.close()
        self._threads.close()
        self._long_threads.close()
        self._store.close()

    @property
    def is_working(self) -> bool:
        """Whether anything is done, also if nobody waits for it."""
        return self._open.is_working

    async def ask(self, org_id: OrgId, questions: Sequence[Question[Any]]) -> list[Any]:
        """The answers, all as of one moment: everything that was committed when it was asked is in them.

        Without a majority of MongoDB's members, something may be missing; the facts' notes then say so.

        Raises FactsNotReady, NoAnswer, StorageError, and what the questions raise.
        """

        async def answers(projection: Projection) -> list[Any]:
            return await self._within_time(_Work(projection, questions, self._clock(), self._store.files))

        return await self._tried(org_id, answers)

    async def stream(self, org_id: OrgId, question: LongQuestion[ResultT]) -> AsyncGenerator[ResultT, None]:
        """The answer piece by piece, all as of one moment. Raises as `ask`."""
        await self._tried(org_id, _nothing)
        try:
            async with self._up_to_date(org_id) as projection:
                with _blamed(projection, is_reading=True):
                    async with projection.files.moments.now() as connection:
                        facts = projection.facts(connection, self._clock(), self._store.files)
                        pieces = question.pieces(facts)
                        try:
                            while (piece := await self._next_of(org_id, pieces, connection)) is not None:
                                yield piece
                        finally:  # in a thread: it may delete a large file
                            await until_ended(asyncio.to_thread(pieces.close))
        except duckdb.OutOfMemoryException:
            raise self._out_of_memory() from None
        except _OfFile as error:
            await self._open.mend(org_id, error.projection, error.error, is_reading=True)
            raise NoAnswer(f"The answer can't be made: {error}; ask again.") from error.error
        except (duckdb.Error, OSError) as error:
            raise _unanswered(error) from error

    async def _next_of(
        self, org_id: OrgId, pieces: Generator[ResultT, None, None], connection: duckdb.DuckDBPyConnection
    ) -> ResultT | None:
        """The next piece, made in a thread; None at the end. Who gives up waits for the thread to stop."""
        making = await self._long_threads.begin(org_id, _nothing, lambda _: next(pieces, None))
        try:
            return await asyncio.shield(making)
        finally:
            while not making.done():  # again and again, since it may be between two questions to DuckDB
                connection.interrupt()
                await asyncio.wait([making], timeout=0.05)
            making.exception()

    async def keep_up(self) -> None:
        """Bring every file that there is up to date, and delete those of organizations that are no more.

        Those come first that have waited longest. An error of one of them stops no other. Where it is done
        already, who asks waits for that. Once no file has bytes any more of what was deleted about people,
        that is noted; as long as it is not, this is to be called again soon.
        """
        if self._keeping_up is None or self._keeping_up.done():
            self._keeping_up = asyncio.create_task(self._keep_all_up())
        await asyncio.shield(self._keeping_up)

    async def _keep_all_up(self) -> None:
        begun_at, spilled = self._clock(), self._store.spilled()
        kept_up = {org_id: self._kept_up.get(org_id, 0.0) for org_id in self._store.org_ids()}
        in_order = sorted(kept_up, key=kept_up.__getitem__)
        self._kept_up = kept_up  # without those that are gone
        unclean = set(in_order)

        async def keep_up(org_id: OrgId) -> None:
            if await self._keep_one_up(org_id):
                unclean.remove(org_id)

        try:
            await self._items.each([_file_of(org_id) for org_id in in_order], keep_up)
        except StorageError as error:  # MongoDB is away
            _logger.warning("The columns can't be kept up: %s", error)
            return
        if spilled & self._store.spilled():
            # What is kept for later questions stands there, and keeps DuckDB from deleting what others had.
            await self._open.make_room(0)
        is_spilled = spilled & self._store.spilled()
        if self._store.drop_old_formers(self._clock()) and not unclean and not is_spilled:
            self._store.note_kept_up(begun_at)

    async def _keep_one_up(self, org_id: OrgId) -> bool:
        """Keep it up. Returns whether it has no bytes any more of what was deleted about people."""
        self._kept_up[org_id] = time.monotonic()
        try:
            is_to_be_rewritten = await self._tried(org_id, self._is_to_be_rewritten)
            return not is_to_be_rewritten or await self._open.rewrite(org_id)
        except FactsNotReady:
            return False  # what was begun goes on
        except Exception:
            if self._store.has(org_id):  # else it was deleted with its organization
                raise
            return True

    async def _is_to_be_rewritten(self, projection: Projection) -> bool:
        return await projection.is_to_be_rewritten(self._clock())

    async def _tried(self, org_id: OrgId, use: Callable[[Projection], Awaitable[ResultT]]) -> ResultT:
        """What `use` returns, with the organization's facts up to date, and with a file that can be used."""
        is_roomy = False
        for _ in range(_MOST_TRIES):
            try:
                async with self._up_to_date(org_id) as projection:
                    with _blamed(projection, is_reading=True):
                        return await use(projection)
            except duckdb.OutOfMemoryException:
                if is_roomy:
                    raise self._out_of_memory() from None
                is_roomy = True
                await self._open.make_room(0)
            except _OfFile as error:
                await self._open.mend(org_id, error.projection, error.error, is_reading=error.is_reading)
            except duckdb.Error as error:
                raise _unanswered(error) from error
        raise NoAnswer("The files of the figures can't be used; see the log.")

    def _out_of_memory(self) -> NoAnswer:
        if self._open.is_working:  # this answer is given up already, so others are at work
            return NotNow(
                "The answer needs more memory than is free while others are answered: ask again, or for less."
            )
        return TooMuch(
            "The answer needs more memory than WAYLINK_ANALYTICS_MEMORY allows: ask for a shorter period, or "
            "for less in it."
        )

    @asynccontextmanager
    async def _up_to_date(self, org_id: OrgId) -> AsyncIterator[Projection]:
        async with self._open.using(org_id) as projection:
            with _blamed(projection, is_reading=False):
                deleted, _ = await asyncio.gather(
                    find_deleted(self._database, [org_id]), projection.catch_up()
                )
            if not deleted:
                yield projection
                return
        await self._open.forget(org_id)
        raise NoAnswer("The organization is deleted.")

    async def _within_time(self, work: _Work) -> list[Any]:
        answering = await self._threads.begin(work.org_id, work.begun, work.answers)
        try:
            async with asyncio.timeout(self._seconds):
                return await asyncio.shield(answering)
        except TimeoutError:
            raise TooMuch(
                f"The answer takes longer than {self._seconds:g} s: ask for a shorter period, or less in it."
            ) from None
        finally:
            if not answering.done():
                work.give_up()
                answering.add_done_callback(lambda answered: answered.exception())


def _file_of(org_id: OrgId) -> WorkItem[OrgId]:
    """This host's file of the organization: that of another host may well do."""
    return WorkItem(f"{org_id} on {platform.node()}", org_id, lambda: org_id)


async def _nothing(*_: Projection) -> None:
    """Asks nothing, and prepares nothing."""


@contextmanager
def _blamed(projection: Projection, *, is_reading: bool) -> Iterator[None]:
    """A block in which errors that the file may be to blame for become _OfFile."""
    try:
        yield
    except duckdb.Error as error:
        if is_of_file(error):
            raise _OfFile(projection, error, is_reading=is_reading) from error
        raise


def _unanswered(error: BaseException) -> NoAnswer:
    if is_disk_full(error):
        return NoAnswer(
            "The disk of WAYLINK_DATA_DIR has no room for what does not fit into memory: make room there, or "
            f"ask for a shorter period, or for less in it. {error}"
        )
    return NoAnswer(f"The answer can't be made: {error}")


class _Work:
    """Questions that are answered in a thread, and can be given up."""

    def __init__(
        self, projection: Projection, questions: Sequence[Question[Any]], now: datetime, files: Path
    ) -> None:
        self.org_id = projection.files.org_id
        self._projection = projection
        self._questions = questions
        self._now = now
        self._files = files
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._lock = threading.Lock()
        self._is_given_up = False

    async def begun(self) -> OpenMoment:
        """The moment as of which the questions are answered."""
        return await self._projection.files.moments.begun()

    def answers(self, moment: OpenMoment) -> list[Any]:
        """The answers, made in a thread."""
        with moment.asked(self._projection.files.moments) as connection:
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
