"""Creates the links of CSV rows.

Each link's id is derived from its row, so that a link is created only once, however often the import is run
or interrupted.
"""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from backend.domain.errors import InvalidField, RequestError
from backend.domain.ids import LinkId, OrgId
from backend.domain.link_input import NewLink
from backend.domain.links import TARGET_FIELDS, CreatedBy, Link
from backend.domain.short_urls import parse_short_url
from backend.imports.row import ImportedLink, ImportRow
from backend.storage.domains import list_domains
from backend.storage.links import PathTaken, find_link, insert_link, resolve_link
from backend.storage.loops import Place
from backend.storage.mongo import Database
from backend.storage.new_links import DomainNotConfigured, check_new_link, store_new_link

_NAMESPACE = uuid.UUID("6f8a4f0e-6d0c-5d55-9c5b-8d9f5b0f5c11")
# Rows that wait for the database at the same time.
_AT_ONCE = 32


class RowOutcome(StrEnum):
    """The result of a row."""

    CREATED = "created"
    ALREADY_THERE = "already_there"
    REFUSED = "refused"


@dataclass(slots=True)
class ImportReport:
    """The number of rows with each outcome; and the refused rows with their reasons, in the file's order."""

    counts: Counter[RowOutcome] = field(default_factory=Counter)
    refused: list[tuple[ImportRow, str]] = field(default_factory=list)


class LinkImport:
    """Imports rows for one organization. A dry run checks everything but stores nothing."""

    def __init__(self, database: Database, org_id: OrgId, now: datetime, *, dry_run: bool) -> None:
        self._database = database
        self._org_id = org_id
        self._now = now
        self._dry_run = dry_run
        self._domains: set[str] = set()
        # The links of a dry run: later rows may lead to them or use the same paths.
        self._planned: dict[Place, Link] = {}
        # Rows that lead to links of the organization go one after the other, or two could close a loop.
        self._one_at_a_time = asyncio.Lock()

    async def run(self, rows: Sequence[ImportRow], advance: Callable[[int], object]) -> ImportReport:
        """Import these rows. `advance` is called with the number of rows done since its last call."""
        report = ImportReport()
        self._domains = set(await list_domains(self._database, self._org_id))
        for start in range(0, len(rows), _AT_ONCE):
            batch = rows[start : start + _AT_ONCE]
            outcomes = await asyncio.gather(*(self._import(row) for row in batch))
            for row, (outcome, reason) in zip(batch, outcomes, strict=True):
                report.counts[outcome] += 1
                if outcome is RowOutcome.REFUSED:
                    report.refused.append((row, reason))
            advance(len(batch))
        return report

    async def _import(self, row: ImportRow) -> tuple[RowOutcome, str]:
        link_id = str(uuid.uuid5(_NAMESPACE, f"{self._org_id}\n{row.text}"))
        try:
            if await find_link(self._database, LinkId(link_id), self._org_id):
                return RowOutcome.ALREADY_THERE, ""
            await self._take(row.parse(), LinkId(link_id))
        except PathTaken:
            return RowOutcome.REFUSED, str(InvalidField("selected_path", "is already in use on this domain"))
        except DomainNotConfigured:
            return RowOutcome.REFUSED, str(InvalidField("domain", "is not configured for the organization"))
        except RequestError as error:
            return RowOutcome.REFUSED, str(error)
        return RowOutcome.CREATED, ""

    async def _take(self, imported: ImportedLink, link_id: LinkId) -> None:
        async with self._one_at_a_time if self._leads_home(imported.new) else contextlib.nullcontext():
            await (self._check(imported.new) if self._dry_run else self._store(imported, link_id))

    def _leads_home(self, new: NewLink) -> bool:
        places = [parse_short_url(new.fields.get(name, "")) for name in TARGET_FIELDS]
        return any(place and place[0] in self._domains for place in places)

    async def _check(self, new: NewLink) -> None:
        await check_new_link(self._database, new, self._org_id, self._now, self._resolve)
        if not new.selected_path:
            return
        place = (new.domain, new.selected_path)
        if await self._resolve(place):
            raise PathTaken
        self._planned[place] = new.to_link(
            new.selected_path,
            link_id=LinkId(""),
            org_id=self._org_id,
            created_by=CreatedBy.REST,
            now=self._now,
        )

    async def _resolve(self, place: Place) -> Link | None:
        return self._planned.get(place) or await resolve_link(self._database, *place)

    async def _store(self, imported: ImportedLink, link_id: LinkId) -> None:
        async def insert(link: Link) -> None:
            try:
                await insert_link(self._database, replace(imported.with_state(link), id=link_id))
            except PathTaken:
                # Another import of the same file may have stored this very row a moment ago.
                if not await find_link(self._database, link_id, self._org_id):
                    raise

        await store_new_link(
            self._database,
            imported.new,
            org_id=self._org_id,
            created_by=CreatedBy.REST,
            now=self._now,
            insert=insert,
        )
