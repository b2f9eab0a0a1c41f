"""Keeps the file of links up to date while the service runs."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from datetime import timedelta

from backend.concurrency.background_task import BackgroundTask
from backend.redirector.links.cache import LinkCache
from backend.redirector.links.domains import LinkDomains
from backend.redirector.links.file import MOST_LINKS, LinkFile, hosts_in, path_in
from backend.web.current import Resources

_WRITE_EVERY = 60.0  # seconds
_LOOK_EVERY = 1.0  # seconds between two looks whether the cache follows changes
_LAST_WRITE_SECONDS = 2.0  # on a disk that hangs, clicks that wait in memory come first
_logger = logging.getLogger(__name__)


class LinkFileUpkeep:
    """Fills the cache from the file before the start, and then writes the most used links into the file."""

    def __init__(self, resources: Resources, cache: LinkCache, domains: LinkDomains) -> None:
        settings = resources.settings
        self._cache = cache
        self._domains = domains
        self._clock = resources.clock
        self._path = path_in(settings.data_dir)
        self._file = LinkFile(
            self._path,
            f"{hosts_in(settings.mongodb_uri)}/{settings.mongodb_database}",
            timedelta(seconds=settings.link_file_seconds),
        )
        self._knows_hottest = False
        self._task = BackgroundTask("keeping the file of links", self._go_on)

    async def fill_cache(self) -> None:
        """Put the links of the file into the cache, which has not started yet."""
        content = await asyncio.to_thread(self._file.read, self._clock())
        self._cache.fall_back_on(content.links, content.cluster_time)
        self._domains.fall_back_on(content.domains)

    async def start(self) -> None:
        """Start to write the file now and then."""
        await self._task.start()

    async def stop(self) -> None:
        """Write the file once more, unless the disk hangs, and stop."""
        await self._task.stop()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LAST_WRITE_SECONDS):
                await self._write()

    @property
    def failures(self) -> list[str]:
        """A description of the error if the file can't be kept up to date now."""
        return self._task.failures

    async def _go_on(self) -> None:
        """Write the file regularly.

        If there is no file, one is written at once: it tells the next start that the service has run before.
        An existing file is kept until this process knows which links are used most.
        """
        if self._path.exists():
            await asyncio.sleep(_WRITE_EVERY)
        while True:
            while not self._cache.follows_changes:  # noqa: ASYNC110 - nobody waits for it
                await asyncio.sleep(_LOOK_EVERY)
            self._knows_hottest = True
            await self._write()
            await asyncio.sleep(_WRITE_EVERY)

    async def _write(self) -> None:
        """Write the most recently used links to the file, unless they may have changed unnoticed."""
        if not self._knows_hottest or not self._cache.follows_changes:
            return
        try:
            links = self._cache.hottest(MOST_LINKS)
            domains = dict(self._domains.by_name)
            await asyncio.to_thread(self._file.write, links, self._clock(), self._cache.cluster_time, domains)
        except OSError as error:
            _logger.warning("The file of links can't be written: %s", error)
