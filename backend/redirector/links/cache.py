"""A cache of links, so that most redirects do not wait for the database."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from itertools import islice

from backend.concurrency.background_task import BackgroundTask
from backend.domain.accounts.apps import Apps
from backend.domain.ids import LinkId
from backend.domain.links.links import Link
from backend.domain.links.path_prefixes import prefixes_of
from backend.redirector.links.cached_link import CachedLink
from backend.redirector.links.domains import LinkDomains
from backend.storage.accounts.apps import find_apps
from backend.storage.driver.deadlines import deadline
from backend.storage.driver.mongo import Database, StorageError
from backend.storage.links.changes import (
    AppsChanged,
    Change,
    ClusterTime,
    Current,
    DomainChanged,
    InDoubt,
    LinkChanged,
    LinkDeleted,
    watch_changes,
)
from backend.storage.links.links import find_paths_below, resolve_link
from backend.system.clock import Clock

_READ_SECONDS = 0.8  # a visitor waits less than a second for the database
_OLD_ENTRY_SECONDS = 0.25  # nor longer than this if an older entry is in memory
_RETRY_SECONDS = 1.0
_DELETED_SECONDS = 2.0  # a read that began before the deletion was told has ended by then
_MOST_BELOW = 1_000  # paths below a link that are kept in memory
_NO_APPS = Apps()
_logger = logging.getLogger(__name__)
_MAY_BE_OLD = float("-inf")  # the time of a read that may be older than a change
LinkKey = tuple[str, str]


class LinkUnavailable(Exception):
    """The link is not in memory, or known to be old there, and the database does not answer."""


class LinkCache:
    """The most recently used links, whose sizes together are at most `capacity`.

    The change stream puts changed links into the cache, without a read. An entry is current if it was read
    less than `seconds_to_live` seconds ago, or if the change stream has proved within that time that it
    reports every change. Otherwise the entry may be old: it is read again, and used only if the database does
    not answer. If a link was changed and the change stream did not say into what, the link leaves the cache:
    visitors get it only as the database has it.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        *,
        capacity: int,
        seconds_to_live: float,
        on_write: Callable[[], None] = lambda: None,
        domains: LinkDomains | None = None,
    ) -> None:
        """`on_write` is told whenever MongoDB has confirmed a write that following changes takes.

        `domains` get the changes of link domains.
        """
        self._database = database
        self._clock = clock
        self._on_write = on_write
        self._domains = domains or LinkDomains(database)
        self._capacity = capacity
        self._seconds_to_live = seconds_to_live
        self._entries: OrderedDict[LinkKey, CachedLink] = OrderedDict()
        self._size = 0  # of all entries
        self._loads: dict[LinkKey, asyncio.Task[CachedLink | None]] = {}
        self._changed_while_loading: set[LinkKey] = set()
        # When it was told, of links that may be in `_entries`, or come from reads under way.
        self._deleted: dict[LinkId, float] = {}
        self._in_doubt_until = float("-inf")  # reads that began before then may have missed changes
        self._current_until = float("-inf")  # until then, entries without a reported change are current
        self.cluster_time: ClusterTime | None = None  # up to which all changes are in the entries
        self._is_down = False  # the database did not answer when it was asked last
        self._ask_again_at = 0.0
        self._watching = BackgroundTask("following changes of links", self._go_on_watching)

    def __len__(self) -> int:
        return len(self._entries)

    async def start(self) -> None:
        """Start to follow changes."""
        await self._watching.start()

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
    def failures(self) -> list[str]:
        """A description of the error if changes can't be followed now."""
        return self._watching.failures

    def hottest(self, most: int) -> list[tuple[Link, Apps]]:
        """The most recently used links, latest first, without those that may be old."""
        latest_first = reversed(self._entries.values())
        fresh = (entry for entry in latest_first if entry.loaded_at != _MAY_BE_OLD)
        stored = (entry for entry in fresh if not self._is_deleted(entry.link, entry.loaded_at))
        return [(entry.link, entry.apps) for entry in islice(stored, most)]

    def fall_back_on(
        self, links: Iterable[tuple[Link, Apps]], cluster_time: ClusterTime | None = None
    ) -> None:
        """Before the start: add these links (most recently used first) for when the database does not answer.

        They have all changes up to the `cluster_time`, where the change stream then begins.
        """
        self.cluster_time = cluster_time
        for link, apps in reversed([*links][: self._capacity]):
            try:
                self._add(CachedLink(link, apps, _MAY_BE_OLD))
            except Exception as error:  # one that a version before could use: it is read again
                _logger.warning("The kept link %s can't be used: %r", link.id, error)

    def current(self, domain: str, path: str) -> CachedLink | None:
        """The link at a short URL if it is in the cache and current; else None."""
        entry = self._entries.get((domain, path))
        if entry is None or (self._deleted and self._is_deleted(entry.link, entry.loaded_at)):
            return None
        now, loaded_at = time.monotonic(), entry.loaded_at
        if loaded_at != _MAY_BE_OLD and (
            now < self._current_until or now < loaded_at + self._seconds_to_live
        ):
            self._entries.move_to_end((domain, path))
            return entry
        return None

    def in_memory(self, domain: str, path: str) -> CachedLink | None:
        """The link as `current` gives it; also one that may be old, while the database does not answer."""
        entry = self.current(domain, path)
        if entry is None and self._is_down and time.monotonic() < self._ask_again_at:
            return self._entry((domain, path))
        return entry

    async def load(self, domain: str, path: str) -> CachedLink | None:
        """The link at a short URL, read from the database; None if there is none.

        If the database does not answer, an entry that may be old is returned, but none that is known to be.
        Raises LinkUnavailable if there is none.
        """
        key = (domain, path)
        if self._entry(key):
            if read := await self._read_soon(key):
                return read.result()
            if entry := self._entry(key):  # it may be another one by now, or none
                return entry
        return await asyncio.shield(self._loading(key))

    def _entry(self, key: LinkKey) -> CachedLink | None:
        """The entry of the link, also if it may be old; None if there is none, or if the link was deleted."""
        entry = self._entries.get(key)
        return None if entry is None or self._is_deleted(entry.link, entry.loaded_at) else entry

    async def _read_soon(self, key: LinkKey) -> asyncio.Task[CachedLink | None] | None:
        """The task that has read the link; None if the database does not answer soon."""
        if self._is_down and time.monotonic() < self._ask_again_at:
            return None
        task = self._loading(key)
        if self._is_down:
            self._ask_again_at = time.monotonic() + _READ_SECONDS + _RETRY_SECONDS  # only one request asks
            return None
        await asyncio.wait({task}, timeout=_OLD_ENTRY_SECONDS)
        if not task.done():
            self._found_down(_READ_SECONDS)  # later requests do not wait
            return None
        return None if isinstance(task.exception(), LinkUnavailable) else task

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
        try:
            with deadline(_READ_SECONDS):
                return await self._read_unchanged(key)
        except StorageError as error:
            if brought := self.current(*key):
                return brought
            self._found_down(_RETRY_SECONDS)
            raise LinkUnavailable from error

    async def _read_unchanged(self, key: LinkKey) -> CachedLink | None:
        """Read the link, and again if it was changed meanwhile and the change stream has not brought it."""
        while True:
            self._changed_while_loading.discard(key)
            began = time.monotonic()
            link, apps = await asyncio.gather(
                resolve_link(self._database, *key), find_apps(self._database, key[0])
            )
            self._is_down = False
            below = await self._paths_below(link)
            is_old = key in self._changed_while_loading or (link and self._is_deleted(link, began))
            if not is_old:
                return self._keep(key, link, apps, began, below)
            if brought := self.current(*key):
                return brought

    async def _paths_below(self, link: Link | None) -> set[str] | None:
        """The paths of links below a link that passes on what follows its path."""
        if link is None or not link.forwards_path:
            return None
        return await find_paths_below(self._database, link.domain, link.path, _MOST_BELOW)

    def _keep(
        self, key: LinkKey, link: Link | None, apps: Apps, began: float, below: set[str] | None
    ) -> CachedLink | None:
        self._remove(key)
        if link is None:
            return None
        read_at = began if began > self._in_doubt_until else _MAY_BE_OLD
        entry = CachedLink(link, apps if apps != _NO_APPS else _NO_APPS, read_at, below)
        self._add(entry)
        return entry

    def _add(self, entry: CachedLink) -> None:
        """Add an entry as the one that was used last."""
        self._entries[entry.link.domain, entry.link.path] = entry
        self._size += entry.size
        self._make_room()

    def _replace(self, key: LinkKey, entry: CachedLink) -> None:
        """Put an entry in the place of the one that is there."""
        self._size += entry.size - self._entries[key].size
        self._entries[key] = entry
        self._make_room()

    def _make_room(self) -> None:
        """Remove the entries that were not used for longest, while there are too many."""
        while self._size > self._capacity and len(self._entries) > 1:
            self._remove(next(iter(self._entries)))

    def _remove(self, key: LinkKey) -> None:
        if entry := self._entries.pop(key, None):
            self._size -= entry.size

    async def _go_on_watching(self) -> None:
        async for change in watch_changes(self._database, self._clock, self._on_write, self.cluster_time):
            self._note(change)

    def _note(self, change: Change) -> None:
        match change:
            case Current(at, cluster_time):
                self._remove_deleted()
                self._current_until, self.cluster_time = at + self._seconds_to_live, cluster_time
            case LinkChanged(domain, path, link):
                self._change((domain, path), link)
            case LinkDeleted(link_id):
                self._deleted[link_id] = time.monotonic()
            case AppsChanged(domain, apps):
                self._change_apps(domain, apps)
            case DomainChanged():
                self._domains.note(change)
            case InDoubt(since):
                self._domains.doubt()
                self._in_doubt_until = time.monotonic()
                for entry in self._entries.values():
                    if entry.loaded_at >= since:
                        entry.loaded_at = _MAY_BE_OLD

    def _change(self, key: LinkKey, link: Link | None) -> None:
        """Replace a link's entry by the changed link. The old entry goes in any case."""
        self._changed_while_loading.update({key} & self._loads.keys())
        if "/" in key[1]:
            self._note_below(key)
        entry = self._entries.get(key)
        changed = entry.changed_into(link) if entry and link else None
        if changed:
            self._replace(key, changed)
        else:
            self._remove(key)

    def _note_below(self, key: LinkKey) -> None:
        """Note the path with the links above it that pass on what follows their path: it may be a new one."""
        domain, path = key
        for above in prefixes_of(path):
            self._changed_while_loading.update({(domain, above)} & self._loads.keys())
            if (entry := self._entries.get((domain, above))) and entry.below is not None:
                self._size -= entry.size
                entry.add_below(path, _MOST_BELOW)
                self._size += entry.size

    def _change_apps(self, domain: str, apps: Apps | None) -> None:
        """Put the domain's apps into all its links. It looks at all entries, but apps change seldom."""
        self._changed_while_loading.update(key for key in self._loads if key[0] == domain)
        for key in [key for key in self._entries if key[0] == domain]:
            if apps is None:
                self._remove(key)
            else:
                entry = self._entries[key]
                self._size -= entry.size
                entry.apps = apps
                self._size += entry.size
        self._make_room()

    def _is_deleted(self, link: Link, read_at: float) -> bool:
        """Whether the link that was read at this time is known to be deleted since."""
        told_at = self._deleted.get(link.id)
        return told_at is not None and told_at >= read_at

    def _remove_deleted(self) -> None:
        """Remove deleted links once no read finds them any more. Not often, since it looks at all entries."""
        now = time.monotonic()
        if not self._deleted or next(iter(self._deleted.values())) > now - _DELETED_SECONDS:
            return
        for key in [key for key in self._entries if not self._entry(key)]:
            self._remove(key)
        oldest = now - _DELETED_SECONDS
        self._deleted = {link_id: at for link_id, at in self._deleted.items() if at > oldest}
