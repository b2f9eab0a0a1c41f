"""The link domains with their settings, so that no page waits for the database."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Mapping
from typing import NoReturn

from backend.concurrency.background_task import BackgroundTask
from backend.concurrency.retrying import Retries, keep_trying
from backend.domain.domains.settings import LinkDomain
from backend.storage.accounts.domain_settings import list_link_domains
from backend.storage.driver.deadlines import deadline
from backend.storage.driver.mongo import Database, StorageError
from backend.storage.links.changes import DomainChanged

_START_SECONDS = 1.0  # at most, before the start goes on with what the file of links had
_READ_SECONDS = 30.0
_logger = logging.getLogger(__name__)


class LinkDomains:
    """All link domains, which the operator alone adds. One with settings takes some kilobytes at most.

    The change stream of the links brings each change. Where it may have missed one, all are read again;
    until that has succeeded, domains stay as they were.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._by_name: dict[str, LinkDomain] = {}
        self._changed: set[str] = set()  # since the read that is under way has begun
        self._is_in_doubt = asyncio.Event()
        self._is_in_doubt.set()
        self.are_read = False
        self._reading = BackgroundTask("reading link domains", self._keep_reading)

    @property
    def by_name(self) -> Mapping[str, LinkDomain]:
        """The domains by their host names. It stays the same object."""
        return self._by_name

    def fall_back_on(self, domains: Mapping[str, LinkDomain]) -> None:
        """Before the start: these domains are known for when the database does not answer."""
        self._by_name.update(domains)

    async def start(self) -> None:
        """Read the domains, and read them again whenever changes may have been missed."""
        with contextlib.suppress(StorageError), deadline(_START_SECONDS):
            await self._read()
        await self._reading.start()

    async def stop(self) -> None:
        """Stop reading."""
        await self._reading.stop()

    @property
    def failures(self) -> list[str]:
        """A description of the error if the domains can't be read now."""
        return self._reading.failures

    def note(self, change: DomainChanged) -> None:
        """Take over a change."""
        self._changed.add(change.name)
        if change.domain is None:
            self._by_name.pop(change.name, None)
        else:
            self._by_name[change.name] = change.domain

    def doubt(self) -> None:
        """A change may have been missed."""
        self._is_in_doubt.set()

    async def _keep_reading(self) -> NoReturn:
        await keep_trying(self._read_when_in_doubt, StorageError, self._warn, Retries())

    def _warn(self, error: Exception) -> None:
        _logger.warning("Link domains can't be read: %s", error)

    async def _read_when_in_doubt(self) -> float:
        """Wait until changes may have been missed, and read. Returns the seconds to rest: none."""
        await self._is_in_doubt.wait()
        with deadline(_READ_SECONDS):
            await self._read()
        return 0.0

    async def _read(self) -> None:
        self._is_in_doubt.clear()
        self._changed.clear()
        try:
            listed = {name: domain async for name, domain in list_link_domains(self._database)}
        except BaseException:
            self._is_in_doubt.set()
            raise
        known = {name: domain or self._by_name.get(name) for name, domain in listed.items()}
        read = {name: domain for name, domain in known.items() if domain}
        for name in self._changed:  # the stream has told what they are now
            read.pop(name, None)
            if name in self._by_name:
                read[name] = self._by_name[name]
        self._by_name.clear()
        self._by_name.update(read)
        self.are_read = True
