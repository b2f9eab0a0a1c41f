"""A stream of changes to links, apps and link domains, by which processes learn of each other's changes."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from math import inf
from typing import Any, TypeVar

from bson import Timestamp

from backend.concurrency.background_task import BackgroundTask
from backend.concurrency.retrying import Retries
from backend.domain.accounts.apps import Apps
from backend.domain.domains.settings import LinkDomain
from backend.domain.ids import LinkId
from backend.domain.links.links import Link
from backend.storage.accounts import apps, domain_settings, domains
from backend.storage.driver.deadlines import deadline
from backend.storage.driver.mongo import Database, Document, StorageError, close_in_background, is_unreachable
from backend.storage.links import links
from backend.storage.processes import heartbeats
from backend.storage.processes.heartbeats import HeartbeatWriter
from backend.system.clock import Clock

# Milliseconds that the server may wait for a change before it answers that there is none.
_AWAIT_MS = 250
# Seconds that a stream has for each answer, and for a stored heartbeat to come back. With the pause between
# heartbeats and the server's wait for changes, a stream that fell behind is replaced within 1.2 seconds.
_ANSWER_SECONDS = 0.5
_LONGEST_OPENING_SECONDS = 2.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 1.0  # seconds after an attempt that failed
_MOST_ATTEMPTS = 20.0  # attempts to continue at a start's position, until a stream begins with new changes
_OF_ONE_DOCUMENT = frozenset({"insert", "update", "replace", "delete"})
ReadT = TypeVar("ReadT")
_log = logging.getLogger("waylink.changes")


# A time by the clock that orders all writes of the database: seconds since 1970, and a number within the
# second.
ClusterTime = tuple[int, int]


@dataclass(frozen=True, slots=True)
class LinkChanged:
    """The link with this short URL has become `link`. If it has changed again, the next change says so.

    `link` is None if this version can't read it, such as one that a newer version of the service stored.
    """

    domain: str
    path: str
    link: Link | None


@dataclass(frozen=True, slots=True)
class LinkDeleted:
    """The link with this id was deleted."""

    link_id: LinkId


@dataclass(frozen=True, slots=True)
class AppsChanged:
    """A domain has these apps from now on; None if this version can't read them."""

    domain: str
    apps: Apps | None


@dataclass(frozen=True, slots=True)
class DomainChanged:
    """A link domain is this from now on; None if it is gone, or if this version can't read it."""

    name: str
    domain: LinkDomain | None


@dataclass(frozen=True, slots=True)
class InDoubt:
    """Links that were read since this time (`time.monotonic`) may be outdated.

    Changes were missed, or the server that answered the reads may not have had all of them.
    """

    since: float = -inf


@dataclass(frozen=True, slots=True)
class Current:
    """All changes confirmed before this time (`time.monotonic`), or up to `cluster_time`, were reported."""

    at: float
    cluster_time: ClusterTime


Change = LinkChanged | LinkDeleted | AppsChanged | DomainChanged | InDoubt | Current


async def watch_changes(
    database: Database, clock: Clock, on_write: Callable[[], None], since: ClusterTime | None = None
) -> AsyncIterator[Change]:
    """Changes of links, apps and domains. At least twice a second, `Current` proves that none was missed.

    Starts with InDoubt, and with the changes since the time `since`, if the database still has them. A stream
    that can't prove that it is current is replaced by one that continues at the same position; if that is
    impossible, InDoubt is reported again. Never ends. `on_write` is called whenever MongoDB has confirmed a
    heartbeat.
    """
    stream = _Stream(HeartbeatWriter(database, clock, on_write), database, since)
    beating = BackgroundTask("proving that changes are seen", stream.heart.keep_writing)
    await beating.start()
    try:
        yield InDoubt()
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

    def __init__(self, heart: HeartbeatWriter, database: Database, since: ClusterTime | None) -> None:
        self.heart = heart
        self._database = database
        # The options for the next stream's begin. Empty: it begins with new changes.
        self._position: dict[str, Any] = {"start_at_operation_time": Timestamp(*since)} if since else {}
        self._proved_at = time.monotonic()
        self._attempts_left = _MOST_ATTEMPTS  # attempts from that position without a proof
        self._retries = Retries(_FIRST_PAUSE, _LONGEST_PAUSE, jitter=0)

    async def changes(self) -> AsyncIterator[Change]:
        """The changes from one stream, until it fails. Raises StorageError or _Unproven."""
        opened = time.monotonic()
        goes_on = bool(self._position)
        stream = self._database.watch(
            _pipeline(self.heart.id),
            full_document="updateLookup",
            max_await_time_ms=_AWAIT_MS,
            **self._position,
        )
        try:
            with deadline(min(_LONGEST_OPENING_SECONDS, _ANSWER_SECONDS * (1 + self._retries.failures))):
                event = await stream.try_next()
            if not goes_on:
                yield InDoubt()
            while stream.alive:  # type: ignore[truthy-function]  # a property; its stub says method
                if token := stream.resume_token:
                    self._position = {"resume_after": token}
                if event:
                    for change in self._read(event):
                        yield change
                self._require_proof(opened)
                with deadline(_ANSWER_SECONDS):
                    event = await stream.try_next()
            self._position = {}  # the database was dropped
        finally:
            close_in_background(stream.close)

    def _read(self, event: Document) -> list[Change]:
        collection, document = event.get("ns", {}).get("coll"), event.get("fullDocument")
        if collection == heartbeats.NAME and document:
            stamp: Timestamp = event["clusterTime"]
            return self._prove(document["number"], (stamp.time, stamp.inc))
        if event["operationType"] not in _OF_ONE_DOCUMENT:
            return [InDoubt()]
        key = event["documentKey"]["_id"]
        if collection == apps.NAME:
            return [AppsChanged(key, _readable(apps.from_document, document) if document else Apps())]
        if collection == domains.NAME:
            changed_domain = _readable(domain_settings.from_document, document) if document else None
            return [DomainChanged(key, changed_domain)]
        domain, path = ((document or {}).get(name) for name in ("domain", "path"))
        if document and isinstance(domain, str) and isinstance(path, str):
            return [LinkChanged(domain, path, _readable(links.from_document, document))]
        # It may have been changed before, and deleted since then; or it is at no short URL any more.
        return [LinkDeleted(LinkId(key))]

    def _prove(self, number: int, cluster_time: ClusterTime) -> list[Change]:
        began = self.heart.take_back(number)
        if began is None:
            return []
        doubted: list[Change] = []
        if self._retries.failures:
            if self._retries.failures > 1:
                _log.warning("Changes of links are seen in time again")
            doubted = [InDoubt(self._proved_at)]
        self._retries.succeed()
        self._attempts_left, self._proved_at = inf, began
        return [*doubted, Current(began, cluster_time)]

    def _require_proof(self, opened: float) -> None:
        waiting_since = self.heart.waiting_since
        if waiting_since is not None and time.monotonic() > max(waiting_since, opened) + _ANSWER_SECONDS:
            raise _Unproven("it does not tell what was written")

    async def note_failure(self, error: Exception) -> None:
        """Wait before the next attempt, longer after each failure in a row."""
        pause = self._retries.fail()
        late = time.monotonic() - self._proved_at
        _log.log(
            logging.WARNING if self._retries.failures in {1, 2} else logging.DEBUG,
            "The change stream is opened again, it proved to be current %.1f s ago: %s",
            late,
            error,
        )
        if isinstance(error, _Unproven):
            self._attempts_left -= 1
            is_lost = self._attempts_left <= 0  # its time may be yet to come, if a clock was set back
        else:
            is_lost = not is_unreachable(error)  # such as a position that the server no longer has
        if is_lost:
            self._position = {}
        await asyncio.sleep(pause)


def _readable(read: Callable[[Document], ReadT], document: Document) -> ReadT | None:
    """The value in a stored document; None if this version can't read it."""
    try:
        return read(document)
    except Exception as error:  # whatever it is: others' changes come after this one
        _log.warning("What %r was changed into can't be read: %r", document.get("_id"), error)
        return None


def _pipeline(heart_id: str) -> list[dict[str, Any]]:
    return [
        {
            "$match": {
                "$or": [
                    {"ns.coll": {"$in": [apps.NAME, domains.NAME]}},
                    # A new link is in no cache yet, since missing links are not cached. But a link above it
                    # may get what is asked for at its path.
                    {
                        "ns.coll": links.NAME,
                        "$or": [
                            {"operationType": {"$ne": "insert"}},
                            {"fullDocument.path": {"$regex": "/"}},
                        ],
                    },
                    {"ns.coll": heartbeats.NAME, "documentKey._id": heart_id},
                    {"operationType": "dropDatabase"},
                ]
            }
        },
        # No redirect needs these fields, which may be large.
        {"$unset": ["updateDescription", "fullDocument.custom_data"]},
    ]
