"""Keeps in memory what signs and checks click ids, so that no redirect waits for the database."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Iterable

from backend.concurrency.background_task import BackgroundTask
from backend.domain.clicks.ids import ClickPlace, link_beginning, read_click_id, variant_of
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.rules.rule_json import variant_names
from backend.domain.visitors.sources import Source
from backend.storage.accounts.organizations import find_without_click_ids
from backend.storage.clicks.signing_keys import signing_key
from backend.storage.driver.deadlines import deadline
from backend.storage.driver.mongo import Database, StorageError
from backend.storage.links.links import find_links_beginning

PURPOSE = "click ids"
_START_SECONDS = 1.0  # the longest time that a start waits for the first read
_READ_SECONDS = 3.0  # a changed setting takes effect within this time
_logger = logging.getLogger(__name__)


class ClickSigning:
    """The installation's key, and the organizations whose links append no click ids."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._key: bytes | None = None
        self._without: frozenset[OrgId] = frozenset()
        self._reading = BackgroundTask("reading settings of click ids", self._go_on_reading)

    async def start(self) -> None:
        """Read the key and the settings, and keep reading the settings."""
        with contextlib.suppress(StorageError), deadline(_START_SECONDS):
            await self._read()
        await self._reading.start()

    async def stop(self) -> None:
        """Stop reading."""
        await self._reading.stop()

    @property
    def key(self) -> bytes | None:
        """The key for all click ids; None before MongoDB has answered."""
        return self._key

    def key_for(self, org_id: OrgId) -> bytes | None:
        """The key for the organization's click ids; None if it wants none, or before MongoDB has answered."""
        return None if org_id in self._without else self._key

    async def place(self, org_id: OrgId, link_id: LinkId, click_id: str) -> ClickPlace | None:
        """The place that a click id of this link names; None if the id is not valid. Raises StorageError."""
        if self._key is None:
            await self._read()
        return read_click_id(self._key, org_id, link_id, click_id) if self._key else None

    async def sources(self, org_id: OrgId, click_ids: Iterable[str]) -> dict[str, Source]:
        """The sources of visits that these click ids name, by id; without ids of other organizations' links.

        Each visit brought nothing but its click id. Raises StorageError.
        """
        beginnings = {
            click_id: beginning for click_id in click_ids if (beginning := link_beginning(click_id))
        }
        links = await find_links_beginning(self._database, set(beginnings.values()), org_id)
        sources: dict[str, Source] = {}
        for click_id, beginning in beginnings.items():
            for link in links.get(beginning, ()):
                if place := await self.place(org_id, link.id, click_id):
                    variant = variant_of(click_id, variant_names(link.rules))
                    sources[click_id] = Source(link, link.utm, variant=variant, click=place)
        return sources

    async def _go_on_reading(self) -> None:
        while True:
            await asyncio.sleep(_READ_SECONDS)
            try:
                await self._read()
            except StorageError as error:
                _logger.warning("Settings of click ids can't be read: %s", error)

    async def _read(self) -> None:
        self._without = await find_without_click_ids(self._database)
        self._key = self._key or await signing_key(self._database, PURPOSE)
