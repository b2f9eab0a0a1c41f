"""A cache of links, so that most redirects do not wait for the database."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from itertools import islice
from sys import intern
from typing import Any, ClassVar

from backend.clock import Clock
from backend.concurrency.background_task import BackgroundTask
from backend.domain.address_patterns import AddressPatterns
from backend.domain.apps import Apps
from backend.domain.destination_policy import leads_to
from backend.domain.ids import LinkId, OrgId
from backend.domain.link_rules import CompiledRules, Target
from backend.domain.links import Link
from backend.domain.web_address import web_address
from backend.storage.apps import find_apps
from backend.storage.changes import (
    Change,
    Current,
    EverythingChanged,
    LinkChanged,
    LinkDeleted,
    ReadsInDoubt,
    watch_changes,
)
from backend.storage.links import resolve_link
from backend.storage.mongo import Database, StorageError, deadline

_READ_SECONDS = 0.8  # a visitor waits less than a second for the database
_PATIENCE = 0.25  # nor longer than this if an older entry is in memory
_RETRY_SECONDS = 1.0
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NONE: dict[str, str] = {}
_NO_RULES: list[dict[str, Any]] = []
_NO_APPS = Apps()
_EXPIRED = float("-inf")  # read before a change
_logger = logging.getLogger(__name__)
LinkKey = tuple[str, str]


class LinkUnavailable(Exception):
    """The link is not in the cache, and the database does not answer."""


class CachedLink:
    """A link and the apps of its domain."""

    __slots__ = ("_cleared_by", "apps", "link", "loaded_at", "rules")
    variant: ClassVar[None] = None  # what a rule leads to may have one

    def __init__(self, link: Link, apps: Apps, loaded_at: float) -> None:
        self.link = link
        self.apps = apps
        self.loaded_at = loaded_at
        self.rules = CompiledRules(link) if link.rules else None
        self._cleared_by: AddressPatterns | None = None

    def is_blocked(self, blocked: AddressPatterns) -> bool:
        """Whether the link leads where the operator blocks. That is looked up once for each block list."""
        if self._cleared_by is blocked:
            return False
        if leads_to(self.link, blocked):
            return True
        self._cleared_by = blocked
        return False

    @property
    def size(self) -> int:
        """How many links without rules take as much memory: each address of the rules does as one."""
        return 1 + self.rules.size if self.rules else 1

    @property
    def address(self) -> bytes:
        """The web address of a click without a query string."""
        return address_of(self)


@lru_cache(maxsize=2_000)
def address_of(place: CachedLink | Target) -> bytes:
    """The web address of a click without a query string, of the link or of where a rule leads.

    Cached for the most used ones only: for all links it would need too much memory.
    """
    return web_address(place.link, variant=place.variant).encode("ascii")


class LinkCache:
    """The most recently used links, whose sizes together are at most `capacity`.

    The change stream tells which of them have changed. An entry is current if it was read less than
    `seconds_to_live` seconds ago, or if the change stream has proved within that time that it reports every
    change. Otherwise it is read again; only if the database does not answer is an old entry used.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        *,
        capacity: int,
        seconds_to_live: float,
        on_write: Callable[[], None] = lambda: None,
    ) -> None:
        """`on_write` is told whenever MongoDB has confirmed a write that following changes takes."""
        self._database = database
        self._clock = clock
        self._on_write = on_write
        self._capacity = capacity
        self._seconds_to_live = seconds_to_live
        self._entries: OrderedDict[LinkKey, CachedLink] = OrderedDict()
        self._size = 0  # of all entries
        self._loads: dict[LinkKey, asyncio.Task[CachedLink | None]] = {}
        self._changed_while_loading: set[LinkKey] = set()
        self._deleted: set[LinkId] = set()  # of links that may be in `_entries`
        self._current_until = float("-inf")  # until then, entries without a reported change are current
        self._is_down = False  # the database did not answer when it was asked last
        self._ask_again_at = 0.0
        self._watching = BackgroundTask("following changes of links", self._go_on_watching)

    def __len__(self) -> int:
        return len(self._entries)

    def start(self) -> None:
        """Start to follow changes."""
        self._watching.start()

    async def stop(self) -> None:
        """Stop following changes and reading links."""
        await self._watching.stop()
        for task in list(self._loads.values()):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, LinkUnavailable):
                await task

    @property
    def follows_changes(self) -> bool:
        """Whether the change stream has proved to be current within the last `seconds_to_live` seconds."""
        return time.monotonic() < self._current_until

    @property
    def failure(self) -> str | None:
        """A description of the error if changes can't be followed now; else None."""
        return self._watching.failure

    def hottest(self, most: int) -> list[tuple[Link, Apps]]:
        """The most recently used links, latest first, without those that have changed since."""
        self._expire_deleted()
        used_last = islice(reversed(self._entries.values()), most)
        return [(entry.link, entry.apps) for entry in used_last if entry.loaded_at != _EXPIRED]

    def fall_back_on(self, links: Iterable[tuple[Link, Apps]]) -> None:
        """Add these links (most recently used first) for when the database does not answer.

        They may have changed meanwhile, so they count as not current.
        """
        for link, apps in reversed([*links][: self._capacity]):
            kept = CachedLink(_only_what_redirects_need(link), apps, _EXPIRED)
            if (kept.link.domain, kept.link.path) not in self._entries:
                self._add(kept)

    def current(self, domain: str, path: str) -> CachedLink | None:
        """The link at a short URL if it is in the cache and current; else None."""
        entry = self._entries.get((domain, path))
        if entry is None or (self._deleted and entry.link.id in self._deleted):
            return None
        now, loaded_at = time.monotonic(), entry.loaded_at
        if loaded_at != _EXPIRED and (now < self._current_until or now < loaded_at + self._seconds_to_live):
            self._entries.move_to_end((domain, path))
            return entry
        return None

    async def load(self, domain: str, path: str) -> CachedLink | None:
        """The link at a short URL, read from the database; None if there is none.

        If the database does not answer, an older entry is returned. Raises LinkUnavailable if there is none.
        """
        key = (domain, path)
        stale = self._entries.get(key)
        return await (self._load_soon(key, stale) if stale else asyncio.shield(self._loading(key)))

    async def _load_soon(self, key: LinkKey, stale: CachedLink) -> CachedLink | None:
        """The link, read again if the database answers soon; else the older entry `stale`."""
        if self._is_down and time.monotonic() < self._ask_again_at:
            return stale
        task = self._loading(key)
        if self._is_down:
            self._ask_again_at = time.monotonic() + _READ_SECONDS + _RETRY_SECONDS  # only one request asks
            return stale
        await asyncio.wait({task}, timeout=_PATIENCE)
        if not task.done():
            self._found_down(_READ_SECONDS)  # later requests do not wait
            return stale
        try:
            return task.result()
        except LinkUnavailable:
            return stale

    def _loading(self, key: LinkKey) -> asyncio.Task[CachedLink | None]:
        """The task that reads a link. All who wait for the same link share it."""
        task = self._loads.get(key)
        if task is None:
            task = self._loads[key] = asyncio.create_task(self._read(key))
            task.add_done_callback(lambda done: self._loaded(key, done))
        return task

    def _loaded(self, key: LinkKey, task: asyncio.Task[CachedLink | None]) -> None:
        del self._loads[key]
        self._changed_while_loading.discard(key)
        if not task.cancelled():
            task.exception()  # so that asyncio does not warn that nobody read it

    def _found_down(self, seconds: float) -> None:
        """Note that the database does not answer. For so many seconds, cached links are not read again."""
        self._is_down, self._ask_again_at = True, time.monotonic() + seconds

    async def _read(self, key: LinkKey) -> CachedLink | None:
        began = time.monotonic()
        try:
            with deadline(_READ_SECONDS):
                link, apps = await asyncio.gather(
                    resolve_link(self._database, *key), find_apps(self._database, key[0])
                )
        except StorageError as error:
            self._found_down(_RETRY_SECONDS)
            raise LinkUnavailable from error
        self._is_down = False
        return self._keep(key, link, apps, began)

    def _keep(self, key: LinkKey, link: Link | None, apps: Apps, began: float) -> CachedLink | None:
        if link is None:
            self._remove(key)
            return None
        entry = CachedLink(_only_what_redirects_need(link), apps if apps != _NO_APPS else _NO_APPS, began)
        if key in self._changed_while_loading:
            entry.loaded_at = _EXPIRED  # may be older than the change: use it only once
        self._remove(key)
        self._add(entry)
        return entry

    def _add(self, entry: CachedLink) -> None:
        """Add an entry as the one that was used last; those that were not used for longest make room."""
        self._entries[entry.link.domain, entry.link.path] = entry
        self._size += entry.size
        while self._size > self._capacity and len(self._entries) > 1:
            self._remove(next(iter(self._entries)))

    def _remove(self, key: LinkKey) -> None:
        if entry := self._entries.pop(key, None):
            self._size -= entry.size

    async def _go_on_watching(self) -> None:
        async for change in watch_changes(self._database, self._clock, self._on_write):
            self._note(change)

    def _note(self, change: Change) -> None:
        match change:
            case Current(at):
                self._expire_deleted()
                self._current_until = at + self._seconds_to_live
            case LinkChanged(domain, path):
                self._expire((domain, path))
            case LinkDeleted(link_id):
                self._deleted.add(link_id)
                for key in self._loads:
                    self._expire(key)
            case ReadsInDoubt(since):
                for key in [*self._loads, *(k for k, e in self._entries.items() if e.loaded_at >= since)]:
                    self._expire(key)
            case EverythingChanged():
                for key in [*self._entries, *self._loads]:
                    self._expire(key)

    def _expire_deleted(self) -> None:
        """Mark the entries of deleted links: now and then, since that looks at all entries."""
        if not self._deleted:
            return
        for key in [key for key, entry in self._entries.items() if entry.link.id in self._deleted]:
            self._expire(key)
        self._deleted.clear()

    def _expire(self, key: LinkKey) -> None:
        """Mark the entry as not current. It is still used if the database does not answer."""
        self._changed_while_loading.update({key} & self._loads.keys())
        if entry := self._entries.get(key):
            entry.loaded_at = _EXPIRED


def _only_what_redirects_need(link: Link) -> Link:
    """The link without fields that redirects don't need. 100,000 such links fit into 100 MB."""
    return replace(
        link,
        domain=intern(link.domain),
        org_id=OrgId(intern(link.org_id)),
        link_name="",
        created_at=_EPOCH,
        modified_at=_EPOCH,
        external_id=None,
        utm=_shared(link.utm),
        social=link.social or _NONE,
        fallbacks=link.fallbacks or _NONE,
        custom_data=None,
        imported_clicks=None,
        rules=link.rules or _NO_RULES,
    )


def _shared(utm: dict[str, str]) -> dict[str, str]:
    """The same fields, as one object for all links that have equal fields, to save memory."""
    return _shared_of(tuple(utm.items()))


@lru_cache(maxsize=10_000)
def _shared_of(items: tuple[tuple[str, str], ...]) -> dict[str, str]:
    return {intern(name): value for name, value in items}
