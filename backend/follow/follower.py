"""The follower: reads a feed in its order, writes it into a target, and goes on as events come."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Set
from functools import partial
from typing import Protocol

from backend.concurrency.retrying import Retries
from backend.domain.feed.cursor import Cursor
from backend.domain.feed.events import Event, EventType
from backend.domain.web.short_urls import ShortUrlForm
from backend.follow.target import FeedTarget, FollowedFeed, TakenBack, TargetAway, TargetTaken, not_given
from backend.storage.driver.deadlines import deadline
from backend.storage.driver.mongo import Database, StorageError, is_unreachable
from backend.storage.feed.put_backs import note_put_back
from backend.storage.feed.reading import FeedPage, read_feed
from backend.storage.outbox.heads import find_heads, is_elsewhere
from backend.storage.outbox.marks import FeedPutBack, cursor_before, last_same_place

# Seconds between two looks at a feed without new events, and between two attempts to take a target's lock.
_POLL_SECONDS = 0.25
# Seconds that a read may take: five thousand events take a tenth of one.
_READ_SECONDS = 20.0
# Entries of the target that are compared with the feed's at once, where that was put back from a backup.
_ENTRIES_COMPARED = 1_000
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 15.0


class Listener(Protocol):
    """Is called with the follower's progress."""

    def opened(self, cursor: Cursor) -> None:
        """The target goes on behind this cursor."""

    def wrote(self, events: list[Event], cursor: Cursor) -> None:
        """These events are in the target."""

    def went_back(self, cursor: Cursor, common: Cursor, taken: TakenBack) -> None:
        """The feed was put back from a backup. The target had come to `cursor`, and goes on from `common`."""

    def reached_end(self) -> None:
        """Everything that the feed has now is in the target."""

    def waits(self, reason: str) -> None:
        """Nothing can be written now, for this reason. The follower tries again later."""


class Follower:
    """Follows a feed until `stop` is set or, with `once`, until all of its events are in the target.

    The doctor calls the target by its `name`. `url_form` says how short URLs are written. With `once` the
    follower waits for nothing: a target that is away, or taken by another follower, is an error.
    """

    def __init__(
        self,
        database: Database,
        followed: FollowedFeed,
        target: FeedTarget,
        listener: Listener,
        *,
        name: str,
        url_form: ShortUrlForm,
        once: bool,
    ) -> None:
        self._read = partial(read_feed, database, followed.org_id, url_form=url_form)
        self._database = database
        self._followed = followed
        self._target = target
        self._listener = listener
        self._name = name
        self._once = once
        self._retries = Retries(_FIRST_PAUSE, _LONGEST_PAUSE, jitter=0)
        self.stop = asyncio.Event()

    async def run(self) -> None:
        """Follow. Raises OperatorError, and StorageError where reading fails for good."""
        while not self.stop.is_set():
            try:
                await self._go_on()
                return
            except (TargetAway, TargetTaken, StorageError) as error:
                if self._once or not _may_be_tried_again(error):
                    raise
                self._listener.waits(_reason(error))
                await self._pause(error)
            finally:
                await self._target.close()

    async def _go_on(self) -> None:
        cursor = await self._target.open(self._followed)
        self._listener.opened(cursor)
        types = self._followed.types | self._target.needs
        while not self.stop.is_set():
            try:
                page = await self._page(cursor, types)
            except FeedPutBack as put_back:
                cursor = await self._go_back(put_back)
                continue
            events, cursor = list(page.events), page.next_cursor
            if events:
                await self._target.write(events, cursor)
                self._listener.wrote(events, cursor)
            self._retries.succeed()
            if page.has_more:
                continue
            self._listener.reached_end()
            if self._once:
                break
            await self._wait_behind(cursor)
        # The cursor may have passed many events of other types.
        await self._target.write([], cursor)

    async def _go_back(self, put_back: FeedPutBack) -> Cursor:
        """Bring the target in line with a feed that was put back from a backup. Returns where to go on."""
        if put_back.common is None:
            raise not_given(put_back)
        with deadline(_READ_SECONDS):
            cursor = await self._common(put_back.cursor, put_back.common)
        await self._note(FeedPutBack(put_back.cursor, cursor))
        self._listener.went_back(put_back.cursor, cursor, await self._target.go_back(cursor))
        return cursor

    async def _note(self, put_back: FeedPutBack) -> None:
        """Note what was found for the doctor, unless the user of MongoDB may only read."""
        org_id, reader = self._followed.org_id, f"waylink follow {self._name}"
        with contextlib.suppress(StorageError):
            await note_put_back(self._database, org_id, reader, put_back)

    async def _common(self, cursor: Cursor, common: Cursor) -> Cursor:
        """The cursor up to which the target has what the feed has, by the ids of both.

        Where the target has no entry that the feed has, it is `common`.
        """
        org_id, place = self._followed.org_id, cursor.last_place
        while seen := await self._target.last_entries(place, _ENTRIES_COMPARED):
            same = await last_same_place(self._database, org_id, seen, common.place)
            if same is not None:
                return await cursor_before(self._database, org_id, same + 1)
            place = min(seen) - 1
        return min(common, await cursor_before(self._database, org_id, place + 1))

    async def _page(self, cursor: Cursor, types: Set[EventType]) -> FeedPage:
        with deadline(_READ_SECONDS):
            return await self._read(cursor, types=types)

    async def _wait_behind(self, cursor: Cursor) -> None:
        """Wait until the feed does not end at the cursor any more, or `stop` is set."""
        while not await self._stops_within(_POLL_SECONDS) and not is_elsewhere(await self._head(), cursor):
            pass

    async def _head(self) -> int:
        with deadline(_READ_SECONDS):
            return (await find_heads(self._database, [self._followed.org_id]))[self._followed.org_id]

    async def _pause(self, error: Exception) -> None:
        is_taken = isinstance(error, TargetTaken)
        await self._stops_within(_POLL_SECONDS if is_taken else self._retries.fail())

    async def _stops_within(self, seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.stop.wait(), seconds)
        return self.stop.is_set()


def _may_be_tried_again(error: Exception) -> bool:
    return not isinstance(error, StorageError) or is_unreachable(error)


def _reason(error: Exception) -> str:
    if isinstance(error, StorageError):
        return f"MongoDB does not answer ({type(error).__name__})."
    return str(error)
