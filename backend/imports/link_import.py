"""Creates the links of CSV rows.

Each link's id is derived from its row, so that a link is created only once, however often the import is run
or interrupted.
"""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Container, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from backend.domain.errors import InvalidField, RequestError
from backend.domain.ids import LinkId, OrgId
from backend.domain.link_input import NewLink
from backend.domain.link_operations import CreateLink, DomainNotConfigured, LinkRequest, PathTaken
from backend.domain.links import TARGET_FIELDS, CreatedBy
from backend.domain.short_urls import parse_short_url
from backend.imports.planned_links import PlannedLinks
from backend.imports.row import ImportedLink, ImportRow
from backend.storage.domains import list_domains
from backend.storage.link_writes import store_link
from backend.storage.links import find_links
from backend.storage.mongo import Database

_NAMESPACE = uuid.UUID("6f8a4f0e-6d0c-5d55-9c5b-8d9f5b0f5c11")
# Rows that wait for the database at the same time.
_STORED_AT_ONCE = 32
# A dry run waits for no disk, only asks what is there: the more at once, the fewer questions.
_CHECKED_AT_ONCE = 500

Outcome = tuple["RowOutcome", str]


class RowOutcome(StrEnum):
    """The result of a row."""

    CREATED = "created"
    ALREADY_THERE = "already_there"
    REFUSED = "refused"


@dataclass(slots=True)
class ImportReport:
    """The number of rows with each outcome; and the refused rows with their reasons, in the file's order.

    In the report of a dry run, `CREATED` are links that would be created. `missing_domains` are those that
    rows name and the organization lacks, with how many rows do.
    """

    counts: Counter[RowOutcome] = field(default_factory=Counter)
    refused: list[tuple[ImportRow, str]] = field(default_factory=list)
    missing_domains: Counter[str] = field(default_factory=Counter)


class LinkImport:
    """Imports rows for one organization. A dry run checks everything but stores nothing."""

    def __init__(self, database: Database, org_id: OrgId, now: datetime, *, dry_run: bool) -> None:
        self._database = database
        self._org_id = org_id
        self._now = now
        self._dry_run = dry_run
        self._domains: frozenset[str] = frozenset()
        self._report = ImportReport()
        # Rows that lead to links of the organization go one after the other, or two could close a loop.
        self._one_at_a_time = asyncio.Lock()

    async def run(self, rows: Sequence[ImportRow], advance: Callable[[int], object]) -> ImportReport:
        """Import these rows. `advance` is called with the number of rows done since its last call."""
        self._report = ImportReport()
        self._domains = frozenset(await list_domains(self._database, self._org_id))
        planned = PlannedLinks(self._database, self._org_id, self._domains, self._now)
        at_once = _CHECKED_AT_ONCE if self._dry_run else _STORED_AT_ONCE
        for start in range(0, len(rows), at_once):
            batch = rows[start : start + at_once]
            outcomes = await self._outcomes(batch, planned)
            for row, (outcome, reason) in zip(batch, outcomes, strict=True):
                self._report.counts[outcome] += 1
                if outcome is RowOutcome.REFUSED:
                    self._report.refused.append((row, reason))
            advance(len(batch))
        return self._report

    async def _outcomes(self, batch: Sequence[ImportRow], planned: PlannedLinks) -> list[Outcome]:
        ids = [LinkId(str(uuid.uuid5(_NAMESPACE, f"{self._org_id}\n{row.text}"))) for row in batch]
        there = await find_links(self._database, ids, self._org_id)
        parsed = [_parsed(row) for row in batch]
        if not self._dry_run:
            pairs = zip(parsed, ids, strict=True)
            return await asyncio.gather(
                *(self._outcome(each, there, id_, self._store) for each, id_ in pairs)
            )
        await planned.look_ahead(each.new for each in parsed if isinstance(each, ImportedLink))

        async def plan(imported: ImportedLink, _: LinkId) -> None:
            await planned.add(imported.new)

        # One after the other: a later row may use the path of an earlier one, or lead to it.
        return [await self._outcome(each, there, id_, plan) for each, id_ in zip(parsed, ids, strict=True)]

    async def _outcome(
        self,
        parsed: ImportedLink | RequestError,
        there: Container[str],
        link_id: LinkId,
        take: Callable[[ImportedLink, LinkId], Awaitable[None]],
    ) -> Outcome:
        if link_id in there:
            return RowOutcome.ALREADY_THERE, ""
        if isinstance(parsed, RequestError):
            return RowOutcome.REFUSED, str(parsed)
        try:
            await take(parsed, link_id)
        except PathTaken:
            return RowOutcome.REFUSED, str(InvalidField("selected_path", "is already in use on this domain"))
        except DomainNotConfigured as error:
            self._report.missing_domains[str(error)] += 1
            return RowOutcome.REFUSED, str(
                InvalidField("domain", f"{error} is not configured for the organization")
            )
        except RequestError as error:
            return RowOutcome.REFUSED, str(error)
        return RowOutcome.CREATED, ""

    def _leads_home(self, new: NewLink) -> bool:
        places = [parse_short_url(new.fields.get(name) or "") for name in TARGET_FIELDS]
        return any(place and place[0] in self._domains for place in places)

    async def _store(self, imported: ImportedLink, link_id: LinkId) -> None:
        create = CreateLink(imported.new, link_id, imported.with_state)
        request = LinkRequest(self._org_id, CreatedBy.REST, self._now, create)
        async with self._one_at_a_time if self._leads_home(imported.new) else contextlib.nullcontext():
            await store_link(self._database, request)


def _parsed(row: ImportRow) -> ImportedLink | RequestError:
    try:
        return row.parse()
    except RequestError as error:
        return error
