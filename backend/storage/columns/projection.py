"""A projection: one organization's facts in columns, brought up to date from its feed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import duckdb

from backend.domain.analytics.notes import note_on_waiting
from backend.domain.ids import OrgId
from backend.storage.accounts.organizations import AskedSettings, find_asked_settings
from backend.storage.analytics.question import Facts, FactsNotReady
from backend.storage.clicks.blocks import mark_unreadable
from backend.storage.columns.applying import apply
from backend.storage.columns.loading import load
from backend.storage.columns.tables.column_files import ColumnFiles
from backend.storage.columns.tables.forgetting import expire, forget_all, has_expired
from backend.storage.columns.tables.state import State, read_state
from backend.storage.columns.tables.transactions import read_to_its_end, to_its_end
from backend.storage.driver.mongo import Database, server_time
from backend.storage.feed.packed import read_packed
from backend.storage.outbox.marks import FeedPutBack, check_cursor
from backend.storage.outbox.sequencer import place_all, waits_since

# How long a question waits for facts that are made anew before FactsNotReady is raised.
_CATCH_UP_SECONDS = 3.0
_PLACING_SECONDS = 1.0
# The smallest share of a page, or of a transaction of a load, that is tried where memory does not suffice.
_LEAST_SHARE = 1 / 128
_logger = logging.getLogger(__name__)


class Projection:
    """One organization's facts. Whoever asks while they are brought up to date waits for the next round."""

    def __init__(
        self,
        database: Database,
        files: ColumnFiles,
        loads: asyncio.Semaphore,
        on_loaded: Callable[[OrgId, str | None], None] = lambda org_id, why: None,
    ) -> None:
        """A load waits for its turn by `loads`.

        `on_loaded` gets the organization whose facts are all there now, and why they were made anew if
        somebody is to know.
        """
        self.files = files
        self.users = 0
        self._unused = asyncio.Event()
        self._unused.set()
        self._settings = AskedSettings()
        self._waits_since: datetime | None = None
        self._known: State | None = None
        self._database = database
        self._loads = loads
        self._on_loaded = on_loaded
        self._running: asyncio.Task[None] | None = None
        self._next: asyncio.Task[None] | None = None
        self._clicks_loaded: int | None = None
        self._share = 1.0
        self._columns = files.written()

    async def close(self) -> None:
        """Stop, and close the files."""
        await self.stop()
        await asyncio.to_thread(self._close_files)

    async def stop(self) -> None:
        """Read no more. Who waits for the facts gets FactsNotReady."""
        for task in (self._next, self._running):
            if task:
                task.cancel()
        await asyncio.gather(*filter(None, (self._next, self._running)), return_exceptions=True)

    def _close_files(self) -> None:
        with suppress(duckdb.Error):
            self._columns.connection.close()
        self.files.close()

    def facts(self, connection: duckdb.DuckDBPyConnection, now: datetime, files: Path) -> Facts:
        """What questions get that are asked by this connection."""
        settings = self._settings
        notes = [note_on_waiting(self._waits_since)] if self._waits_since else []
        return Facts(connection, settings.retention_days, now, files, settings.event_properties, notes)

    @contextmanager
    def used(self) -> Iterator[None]:
        """A block in which the files are not closed."""
        self.users += 1
        self._unused.clear()
        try:
            yield
        finally:
            self.users -= 1
            if not self.users:
                self._unused.set()

    async def until_unused(self, seconds: float) -> None:
        """Return once nobody uses it. Raises TimeoutError where that takes longer."""
        async with asyncio.timeout(seconds):
            while self.users:
                await self._unused.wait()

    async def catch_up(self) -> None:
        """Read the feed up to what is committed now. What was begun goes on if nobody waits for it any more.

        Raises FactsNotReady if that takes long, as at first, and duckdb.Error.
        """
        if self._next is None:
            self._next = asyncio.create_task(self._after(self._running))
            self._next.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        waited_for = self._next
        await asyncio.wait([waited_for], timeout=_CATCH_UP_SECONDS)
        if not waited_for.done() or waited_for.cancelled():
            raise FactsNotReady(self._clicks_loaded)
        waited_for.result()

    async def _after(self, running: asyncio.Task[None] | None) -> None:
        if running:
            await asyncio.wait([running])
        self._running, self._next = self._next, None
        await self._read()

    async def _read(self) -> None:
        # If this is interrupted, the files say how far it came.
        state, self._known = self._known or await self._stored(), None
        # By MongoDB's clock: a host's may be wrong, and what expires by it is not read again.
        now, self._settings, is_another, _ = await asyncio.gather(
            server_time(self._database),
            find_asked_settings(self._database, self.files.org_id),
            self._is_of_another_feed(state),
            self._place_all(),
        )
        if is_another or not state.is_loaded:
            state = await self._loaded(is_another)
        has_more = True
        while has_more:
            state, has_more = await self._applied(state)
        self._share = 1.0
        with self.used():
            await self._expire(now)
        self._known = state

    async def _is_of_another_feed(self, state: State) -> bool:
        try:
            await check_cursor(self._database, self.files.org_id, state.cursor)
        except FeedPutBack:
            return True
        return False

    async def _stored(self) -> State:
        return await read_to_its_end(partial(read_state, self._columns.connection))

    async def _applied(self, state: State) -> tuple[State, bool]:
        """Apply the next page. Returns the state behind it, and whether there is more."""
        page = await read_packed(self._database, self.files.org_id, state.cursor, share=self._share)
        if page.entries:
            try:
                with self.used():
                    async with self.files.moments.changing():
                        unreadable = await apply(
                            self._database, self.files.org_id, self._columns, page, self._share
                        )
            except duckdb.OutOfMemoryException as error:
                self._take_less(error)
                return state, True
            if unreadable:  # noted, so that somebody is told
                await mark_unreadable(self._database, unreadable)
        return replace(state, cursor=page.next_cursor), page.has_more

    def _take_less(self, error: duckdb.Error) -> None:
        """Go on with half as much at a time. Raises the error where that is too little."""
        if self._share / 2 < _LEAST_SHARE:
            raise error
        self._share /= 2
        _logger.warning("Memory for %s does not suffice: half as much goes at once", self.files.name)

    async def _loaded(self, is_another: bool) -> State:
        """Load everything, as far as it was not loaded already from this feed. Returns the state then."""
        self._clicks_loaded = 0
        try:
            async with self._loads:
                with self.used():
                    async with self.files.moments.changing():
                        if is_another:
                            await to_its_end(partial(forget_all, self._columns))
                        await self._load()
        finally:
            self._clicks_loaded = None
        self._on_loaded(self.files.org_id, _PUT_BACK if is_another else None)
        return await self._stored()

    async def _load(self) -> None:
        while True:
            try:
                await load(self._database, self.files.org_id, self._columns, self._note, share=self._share)
                return
            except duckdb.OutOfMemoryException as error:
                self._take_less(error)

    async def _expire(self, now: datetime) -> None:
        if (days := self._settings.retention_days) is None:
            return
        oldest = now - timedelta(days=days)
        if await read_to_its_end(partial(has_expired, self._columns.connection, oldest)):
            async with self.files.moments.changing():
                await to_its_end(partial(expire, self._columns.connection, oldest, now))

    async def _place_all(self) -> None:
        """Give what waits its place in the feed. Without a majority nothing gets one: answers say that it is
        missing."""
        self._waits_since = None
        try:
            async with asyncio.timeout(_PLACING_SECONDS):
                await place_all(self._database, self.files.org_id)
        except TimeoutError:
            self._waits_since = await waits_since(self._database, self.files.org_id)

    def _note(self, clicks: int) -> None:
        self._clicks_loaded = clicks

    async def is_to_be_rewritten(self, now: datetime) -> bool:
        """Whether a file may have bytes of data about people that was deleted."""
        return await read_to_its_end(partial(self.files.is_to_be_rewritten, now))


_PUT_BACK = "MongoDB has another feed than the one that it was made from, as from a backup"
