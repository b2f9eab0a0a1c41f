"""A stream of changes to links and apps, so that every process learns what other processes change."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

from backend.clock import Clock
from backend.concurrency.background_task import BackgroundTask
from backend.domain.ids import LinkId
from backend.storage import apps, heartbeats, links
from backend.storage.heartbeats import Heart
from backend.storage.mongo import Database, StorageError, deadline, go_on_closing, is_unreachable

# How long the server may wait for a change before it says that there is none, in milliseconds.
_AWAIT_MS = 250
# A stream has this long for each answer, and for a heartbeat that is stored: with the pause between
# heartbeats and the server's wait for changes, one that fell behind is left within 1.2 seconds.
_PATIENCE = 0.5
_LONGEST_OPENING = 2.0
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.05, 1.0  # between two attempts that failed
_log = logging.getLogger("waylink.changes")


@dataclass(frozen=True, slots=True)
class LinkChanged:
    """The link with this short URL was changed."""

    domain: str
    path: str


@dataclass(frozen=True, slots=True)
class LinkDeleted:
    """The link with this id was deleted."""

    link_id: LinkId


@dataclass(frozen=True, slots=True)
class EverythingChanged:
    """Anything may have changed: a domain's apps, a dropped collection, or missed changes."""


@dataclass(frozen=True, slots=True)
class ReadsInDoubt:
    """Whatever was read since this time (`time.monotonic`) may be older than changes reported before."""

    since: float


@dataclass(frozen=True, slots=True)
class Current:
    """All changes confirmed before this time (`time.monotonic`) have been reported."""

    at: float


Change = LinkChanged | LinkDeleted | EverythingChanged | ReadsInDoubt | Current


async def watch_changes(
    database: Database, clock: Clock, on_write: Callable[[], None]
) -> AsyncIterator[Change]:
    """Changes of links and apps. At least twice a second, `Current` proves that none was missed.

    Starts with EverythingChanged. If the stream can't prove that it is current, it is replaced by another
    one, which continues at the same place; if that is impossible, EverythingChanged is reported again. Never
    ends. `on_write` is called whenever MongoDB has confirmed a write of its own: it answers.
    """
    stream = _Stream(Heart(database, clock, on_write), database)
    beating = BackgroundTask("proving that changes are seen", stream.heart.go_on_beating)
    beating.start()
    try:
        while True:
            try:
                async for change in stream.changes():
                    yield change
            except (StorageError, _Unproven) as error:
                await stream.note_failure(error)
    finally:
        await beating.stop()


class _Unproven(Exception):
    """No heartbeat comes back through the stream."""


class _Stream:
    """The change stream, and the time up to which it is known to be complete."""

    def __init__(self, heart: Heart, database: Database) -> None:
        self.heart = heart
        self._database = database
        self._place: Any = None  # where the next stream continues; None: it starts with new changes
        self._proved_at = time.monotonic()
        self._failures = 0

    async def changes(self) -> AsyncIterator[Change]:
        """The changes from one stream, until it fails. Raises StorageError or _Unproven."""
        opened = time.monotonic()
        goes_on = self._place is not None
        stream = self._database.watch(
            _pipeline(self.heart.id),
            full_document="updateLookup",
            max_await_time_ms=_AWAIT_MS,
            resume_after=self._place,
        )
        try:
            with deadline(min(_LONGEST_OPENING, _PATIENCE * (1 + self._failures))):
                found = await stream.try_next()
            if not goes_on:
                yield EverythingChanged()
            while stream.alive:  # type: ignore[truthy-function]  # a property; its stub says method
                self._place = stream.resume_token
                if found:
                    for change in self._read(found):
                        yield change
                self._require_proof(opened)
                with deadline(_PATIENCE):
                    found = await stream.try_next()
            self._place = None  # the database was dropped
        finally:
            go_on_closing(stream.close)

    def _read(self, found: Any) -> list[Change]:
        collection, document = found.get("ns", {}).get("coll"), found.get("fullDocument")
        if collection == heartbeats.NAME and document:
            return self._prove(document["number"])
        if collection == links.NAME and document:
            return [LinkChanged(document["domain"], document["path"])]
        if collection == links.NAME and found.get("operationType") in {"delete", "update", "replace"}:
            # Of an update, too: the link was deleted before it was looked up.
            return [LinkDeleted(LinkId(found["documentKey"]["_id"]))]
        return [EverythingChanged()]

    def _prove(self, number: int) -> list[Change]:
        began = self.heart.take_back(number)
        if began is None:
            return []
        doubted: list[Change] = []
        if self._failures:
            if self._failures > 1:
                _log.warning("Changes of links are seen in time again")
            doubted = [ReadsInDoubt(self._proved_at)]
        self._failures, self._proved_at = 0, began
        return [*doubted, Current(began)]

    def _require_proof(self, opened: float) -> None:
        waiting_since = self.heart.waiting_since
        if waiting_since is not None and time.monotonic() > max(waiting_since, opened) + _PATIENCE:
            raise _Unproven("it does not tell what was written")

    async def note_failure(self, error: Exception) -> None:
        """Wait before the next attempt, longer after each failure in a row."""
        self._failures += 1
        late = time.monotonic() - self._proved_at
        _log.log(
            logging.WARNING if self._failures in {1, 2} else logging.DEBUG,
            "The change stream is opened again, it proved to be current %.1f s ago: %s",
            late,
            error,
        )
        if isinstance(error, StorageError) and not is_unreachable(error):
            self._place = None  # such as a place that the server has no more
        await asyncio.sleep(min(_LONGEST_PAUSE, _SHORTEST_PAUSE * 2 ** min(self._failures, 10)))


def _pipeline(heart_id: str) -> list[dict[str, Any]]:
    return [
        {
            "$match": {
                "$or": [
                    {"ns.coll": apps.NAME},
                    # A new link is in no cache yet, since missing links are not cached.
                    {"ns.coll": links.NAME, "operationType": {"$ne": "insert"}},
                    {"ns.coll": heartbeats.NAME, "documentKey._id": heart_id},
                    {"operationType": "dropDatabase"},
                ]
            }
        },
        {
            "$project": {
                "ns": 1,
                "operationType": 1,
                "documentKey": 1,
                "fullDocument": {"domain": 1, "path": 1, "number": 1},
            }
        },
    ]
