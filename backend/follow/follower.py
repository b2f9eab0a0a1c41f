"""The follower: reads a feed in its order, writes it into a target, and goes on as events come."""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from typing import Protocol

from backend.concurrency.retrying import Retries
from backend.domain.errors import OperatorError
from backend.domain.feed.cursor import Cursor
from backend.domain.feed.events import Event
from backend.domain.web.short_urls import ShortUrlForm
from backend.follow.target import FeedTarget, FollowedFeed, TargetAway, TargetTaken
from backend.storage.driver.deadlines import deadline
from backend.storage.driver.mongo import Database, StorageError, is_unreachable
from backend.storage.feed.reading import read_feed
from backend.storage.outbox.heads import find_heads

# Seconds between two looks at a feed without new events, and between two attempts to take a target's lock.
_POLL_SECONDS = 0.25
# Seconds that a read may take: five thousand events take a tenth of one.
_READ_SECONDS = 20.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 15.0


class CursorAhead(OperatorError):
    """A cursor is behind the end of the feed."""

    def __init__(self, cursor: Cursor, head: int) -> None:
        super().__init__(
            f"The cursor {cursor} is behind the end of this organization's feed, {Cursor(head + 1)}. Was "
            "MongoDB restored from a backup? What happened since would be missed: begin a new target."
        )


class Listener(Protocol):
    """Is called with the follower's progress."""

    def opened(self, cursor: Cursor) -> None:
        """The target goes on behind this cursor."""

    def wrote(self, events: list[Event], cursor: Cursor) -> None:
        """These events are in the target."""

    def reached_end(self) -> None:
        """Everything that the feed has now is in the target."""

    def waits(self, reason: str) -> None:
        """Nothing can be written now, for this reason. The follower tries again later."""


class Follower:
    """Follows a feed until `stop` is set or, with `once`, until all of its events are in the target.

    `url_form` says how short URLs are written. With `once` the follower waits for nothing: a target that is
    away, or taken by another follower, is an error.
    """

    def __init__(
        self,
        database: Database,
        followed: FollowedFeed,
        target: FeedTarget,
        listener: Listener,
        *,
        url_form: ShortUrlForm,
        once: bool,
    ) -> None:
        self._read = partial(read_feed, database, followed.org_id, url_form=url_form)
        self._database = database
        self._followed = followed
        self._target = target
        self._listener = listener
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
        head = await self._head()
        if cursor.place > head + 1:
            raise CursorAhead(cursor, head)
        self._listener.opened(cursor)
        types = self._followed.types | self._target.needs
        while not self.stop.is_set():
            with deadline(_READ_SECONDS):
                page = await self._read(cursor, types=types)
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

    async def _wait_behind(self, cursor: Cursor) -> None:
        """Wait until the feed has entries behind the cursor, or `stop` is set."""
        while not await self._stops_within(_POLL_SECONDS) and await self._head() < cursor.place:
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
