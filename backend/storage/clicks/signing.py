"""What is needed to sign and check click ids, kept in memory: no redirect waits for it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Iterable

from backend.concurrency.background_task import BackgroundTask
from backend.domain.clicks.ids import ClickPlace, link_beginning, read_click_id, variant_of
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.rules import variant_names
from backend.domain.visitors.attribution import Source
from backend.storage.accounts.organizations import find_without_click_ids
from backend.storage.clicks.signing_keys import signing_key
from backend.storage.driver.deadlines import deadline
from backend.storage.driver.mongo import Database, StorageError
from backend.storage.links.links import find_links_beginning

PURPOSE = "click ids"
_START_SECONDS = 1.0  # at most, before the start goes on without
_LOOK_EVERY = 3.0  # so much later, a changed setting holds
_logger = logging.getLogger(__name__)


class ClickSigning:
    """The installation's key, and the organizations whose links append no click ids."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._key: bytes | None = None
        self._without: frozenset[OrgId] = frozenset()
        self._reading = BackgroundTask("reading settings of click ids", self._go_on_reading)

    async def start(self) -> None:
        """Read the key and the settings, and keep reading these."""
        with contextlib.suppress(StorageError), deadline(_START_SECONDS):
            await self._read()
        await self._reading.start()

    async def stop(self) -> None:
        """Stop reading."""
        await self._reading.stop()

    def key_for(self, org_id: OrgId) -> bytes | None:
        """The key for the organization's clicks; None if it wants no ids, or MongoDB did not answer yet."""
        return None if org_id in self._without else self._key

    async def place(self, org_id: OrgId, link_id: LinkId, click_id: str) -> ClickPlace | None:
        """The place that the id of a click on this link names; None if it is none. Raises StorageError."""
        if self._key is None:
            await self._read()
        return read_click_id(self._key, org_id, link_id, click_id) if self._key else None

    async def sources(self, org_id: OrgId, click_ids: Iterable[str]) -> dict[str, Source]:
        """The clicks that these ids name, each with its link; without those of no link of the organization.

        Each stands for a visit that brought nothing else. Raises StorageError.
        """
        begins = {text: begin for text in click_ids if (begin := link_beginning(text))}
        links = await find_links_beginning(self._database, set(begins.values()), org_id)
        found: dict[str, Source] = {}
        for text, begin in begins.items():
            for link in links.get(begin, ()):
                if place := await self.place(org_id, link.id, text):
                    variant = variant_of(text, variant_names(link.rules))
                    found[text] = Source(link, link.utm, variant=variant, click=place)
        return found

    async def _go_on_reading(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_EVERY)
            try:
                await self._read()
            except StorageError as error:
                _logger.warning("Settings of click ids can't be read: %s", error)

    async def _read(self) -> None:
        self._without = await find_without_click_ids(self._database)
        self._key = self._key or await signing_key(self._database, PURPOSE)
