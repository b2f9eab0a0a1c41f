"""The projections that are open: opens and closes files, and mends those that can't be used.

Whatever is done with the files of one organization, the others don't wait for it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta
from functools import partial
from weakref import WeakValueDictionary

import duckdb

from backend.concurrency.cancellation import until_ended
from backend.domain.ids import OrgId
from backend.storage.analytics.file_troubles import FileTroubles, Remedy
from backend.storage.analytics.question import NoAnswer, NotNow
from backend.storage.columns.projection import Projection
from backend.storage.columns.tables.column_files import ColumnFiles, Copies, discard, put_in_place
from backend.storage.columns.tables.errors import is_of_machine, is_out_of_memory
from backend.storage.columns.tables.store import ColumnStore
from backend.storage.driver.mongo import Database
from backend.system.clock import Clock

# Organizations whose files are open at a time: they take three megabytes and more, which questions then lack.
_MOST_OPEN = 8
# Organizations whose facts are loaded at a time. Each keeps its files open until all is there.
_MOST_LOADS = 4
# How long whoever closes files waits for those who use them.
_CLOSE_SECONDS = 10.0
_REPLACE_TRIES = 30
# An error that comes again within this time was not that of a handle.
_AGAIN_WITHIN = timedelta(minutes=10)
# What is of no use is not made anew more often, since that may take long and end as before.
_ANEW_EVERY = timedelta(hours=1)
# Organizations whose files are read as a whole at a time, which may take minutes. Others' files are opened in
# the same few threads, which are asyncio's.
_MOST_CHECKS = 2
_logger = logging.getLogger(__name__)


class OpenProjections:
    """Opens the files of an organization when somebody needs them, and closes those that nobody uses."""

    def __init__(self, database: Database, store: ColumnStore, troubles: FileTroubles, clock: Clock) -> None:
        self._database = database
        self._store = store
        self._troubles = troubles
        self._clock = clock
        self._open: dict[OrgId, Projection] = {}
        # Only of organizations with whose files something is done: who waits for a lock holds it.
        self._locks: WeakValueDictionary[OrgId, asyncio.Lock] = WeakValueDictionary()
        self._loads = asyncio.Semaphore(_MOST_LOADS)
        self._checks = asyncio.Semaphore(_MOST_CHECKS)
        self._mended_at: dict[OrgId, datetime] = {}
        self._made_anew_at: dict[OrgId, datetime] = {}
        self._making_room: asyncio.Task[None] | None = None

    async def close(self) -> None:
        """Close all files, whoever uses them."""
        if self._making_room:
            await asyncio.wait([self._making_room])
        while self._open:
            await self._open.popitem()[1].close()

    @property
    def is_working(self) -> bool:
        """Whether anybody uses any of the files, or facts are read into them."""
        return any(projection.users for projection in self._open.values())

    @asynccontextmanager
    async def using(self, org_id: OrgId) -> AsyncIterator[Projection]:
        """The organization's projection, which is open for as long as the block runs.

        Raises NoAnswer where its files can't be opened.
        """
        async with self._lock_of(org_id):
            # Who is cancelled would leave files open that nobody knows of.
            projection = await until_ended(self._opened(org_id))
            used = projection.used()
            used.__enter__()  # before anybody else may close it
        try:
            yield projection
        finally:
            used.__exit__(None, None, None)

    async def make_room(self, most: int) -> None:
        """Close files that nobody uses, those used last at the end, until so many organizations' are open."""
        for org_id in list(self._open):
            if len(self._open) <= most:
                return
            lock = self._lock_of(org_id)
            if lock.locked():  # it is opened, closed or mended just now
                continue
            async with lock:
                if (projection := self._open.get(org_id)) and not projection.users:
                    await until_ended(self._close_now(org_id))

    async def forget(self, org_id: OrgId) -> None:
        """Delete the organization's files."""
        async with self._lock_of(org_id):
            await until_ended(self._close_now(org_id))
            await asyncio.to_thread(self._store.delete, org_id)
            self._mended_at.pop(org_id, None)
            self._made_anew_at.pop(org_id, None)

    async def mend(
        self, org_id: OrgId, projection: Projection, error: BaseException, *, is_reading: bool
    ) -> None:
        """Close the files after an error, so that they are opened again; make them anew if it comes again.

        Where the error came as somebody read (`is_reading`), it may be the question's: then they are made
        anew only if they can't be read as a whole. Raises NoAnswer where nothing helps now.
        """
        async with self._lock_of(org_id):
            if self._open.get(org_id) is projection:  # else somebody else has closed it meanwhile
                await until_ended(self._mended(org_id, projection, error, is_reading))

    def _lock_of(self, org_id: OrgId) -> asyncio.Lock:
        return self._locks.setdefault(org_id, asyncio.Lock())

    async def _mended(
        self, org_id: OrgId, projection: Projection, error: BaseException, is_reading: bool
    ) -> None:
        await self._close_unused(org_id, projection)
        now, former = self._clock(), self._mended_at.get(org_id)
        self._mended_at[org_id] = now
        if former is None or now - former > _AGAIN_WITHIN:
            self._note(org_id, error, Remedy.OPENED_AGAIN)
            return
        if is_reading and await self._is_whole(org_id, now):
            raise NoAnswer(f"The figures can't be read: {error}") from error
        self._open[org_id] = self._projection(await self._made_anew(org_id, error))

    async def _is_whole(self, org_id: OrgId, now: datetime) -> bool:
        async with self._checks:
            return await asyncio.to_thread(self._can_be_read, org_id, now)

    async def rewrite(self, org_id: OrgId) -> bool:
        """Write those files anew that have bytes of rows that were deleted, so that they have none.

        Questions go on meanwhile. The copies take the files' places in a moment in which nobody uses them,
        and the feed is read again from where the files were when they were copied. Returns False where there
        was no such moment. Raises duckdb.Error.
        """
        async with self.using(org_id) as projection:
            copies = await self._copied(projection.files)
        try:
            for _ in range(_REPLACE_TRIES):
                with suppress(TimeoutError):
                    await projection.until_unused(_CLOSE_SECONDS)
                async with self._lock_of(org_id):
                    projection = await until_ended(self._opened(org_id))
                    if not projection.users:
                        return await until_ended(self._replaced(org_id, projection, copies))
        finally:
            await asyncio.to_thread(discard, copies.paths)
        _logger.info("%s is written anew later, since it is used", projection.files.name)
        return False

    async def _replaced(self, org_id: OrgId, projection: Projection, copies: Copies) -> bool:
        """Put the copies in their places, unless the files were made anew since then."""
        await projection.stop()
        try:
            is_same = await asyncio.to_thread(projection.files.go_back_for, copies)
        finally:
            await self._close_now(org_id)
        if is_same:
            await asyncio.to_thread(put_in_place, copies)
        return is_same

    async def _copied(self, files: ColumnFiles) -> Copies:
        copying = asyncio.ensure_future(asyncio.to_thread(self._store.copy, files, self._clock()))
        try:
            return await asyncio.shield(copying)
        except asyncio.CancelledError:
            self._store.stop_copying()
            await asyncio.wait([copying])
            raise

    async def _opened(self, org_id: OrgId) -> Projection:
        projection = self._open.get(org_id)
        if projection and not projection.files.is_there:
            await projection.stop()  # what it still loads would be lost
            await self._close_unused(org_id, projection)
            projection = None
        if projection is None:
            projection = self._projection(await self._attached(org_id))
        self._open.pop(org_id, None)
        self._open[org_id] = projection  # the last, as the one that was used last
        if len(self._open) > _MOST_OPEN:
            self._make_room_soon()
        return projection

    def _make_room_soon(self) -> None:
        """Close files that are too many, while nobody waits for it: to close one may take seconds."""
        if self._making_room is None or self._making_room.done():
            self._making_room = asyncio.create_task(self.make_room(_MOST_OPEN))
            self._making_room.add_done_callback(self._log_failure)

    def _log_failure(self, making_room: asyncio.Task[None]) -> None:
        if not making_room.cancelled() and (error := making_room.exception()):
            _logger.error("Files of columns can't be closed: %s", error)

    async def _close_unused(self, org_id: OrgId, projection: Projection) -> None:
        """Close the projection once nobody uses it. Raises NoAnswer where that takes long."""
        try:
            await projection.until_unused(_CLOSE_SECONDS)
        except TimeoutError:
            raise NotNow("The files of the figures are opened again, and still used; ask again.") from None
        await self._close_now(org_id)

    async def _close_now(self, org_id: OrgId) -> None:
        if projection := self._open.pop(org_id, None):
            await projection.close()

    async def _attached(self, org_id: OrgId) -> ColumnFiles:
        attach = partial(self._store.attach, org_id, self._clock())
        try:
            return await asyncio.to_thread(attach)
        except (duckdb.Error, OSError) as error:
            first = error
        try:
            files = await asyncio.to_thread(attach)
        except (duckdb.Error, OSError) as error:
            return await self._made_anew(org_id, error)
        self._note(org_id, first, Remedy.OPENED_AGAIN)
        return files

    async def _made_anew(self, org_id: OrgId, error: BaseException) -> ColumnFiles:
        """New files in the place of those with this error. Raises NoAnswer where that does not help."""
        if is_out_of_memory(error):
            raise NoAnswer(f"The files of the organization's figures can't be opened: {error}") from error
        now, former = self._clock(), self._made_anew_at.get(org_id)
        if not is_of_machine(error) and (former is None or now - former > _ANEW_EVERY):
            try:
                files = await asyncio.to_thread(self._store.make_anew, org_id)
            except (duckdb.Error, OSError) as another:
                _logger.warning("New files for the organization %s can't be made: %s", org_id, another)
            else:
                self._made_anew_at[org_id] = now
                self._note(org_id, error, Remedy.MADE_ANEW)
                return files
        self._note(org_id, error, Remedy.NONE)
        raise NoAnswer(f"The files of the organization's figures can't be used: {error}") from error

    def _projection(self, files: ColumnFiles) -> Projection:
        try:
            return Projection(self._database, files, self._loads, self._loaded)
        except duckdb.Error as error:
            files.close()
            raise NoAnswer(f"The files of the organization's figures can't be used: {error}") from error

    def _loaded(self, org_id: OrgId, why: str | None) -> None:
        """All facts are there: former files are of no use any more."""
        self._store.drop_former(org_id)
        if why:
            name = self._store.name_of(org_id, why)
            self._troubles.note(org_id, name, why, self._clock(), Remedy.MADE_ANEW)

    def _note(self, org_id: OrgId, error: BaseException, remedy: Remedy) -> None:
        why = str(error).partition("\n")[0]
        self._troubles.note(org_id, self._store.name_of(org_id, why), why, self._clock(), remedy)

    def _can_be_read(self, org_id: OrgId, now: datetime) -> bool:
        """Whether the files, which are not open, can be read as a whole, or could if the machine let them."""
        try:
            files = self._store.attach(org_id, now)
        except (duckdb.Error, OSError) as error:
            return is_of_machine(error)
        try:
            files.read_all()
        except duckdb.Error as error:
            return is_out_of_memory(error) or is_of_machine(error)
        finally:
            files.close()
        return True
