"""Creates the links of CSV rows.

Each link's id is derived from its row, so that a link is created only once, however often the import is run
or interrupted.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from backend.domain.errors import FieldError, InvalidField, RequestError
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.input import NewLink
from backend.domain.links.links import CreatedBy
from backend.domain.links.operations import CreateLink, DomainNotConfigured, LinkRequest, PathTaken
from backend.imports.import_tags import ImportTags
from backend.imports.planned_links import PlannedLinks
from backend.imports.row import ImportedLink, ImportRow
from backend.storage.accounts.domains import list_domains
from backend.storage.accounts.users.passwords import with_password_hash
from backend.storage.driver.mongo import Database
from backend.storage.links.destinations.policies import DestinationPolicies
from backend.storage.links.links import find_links
from backend.storage.links.writing.writes import Submission, write_links

_NAMESPACE = uuid.UUID("6f8a4f0e-6d0c-5d55-9c5b-8d9f5b0f5c11")
# Rows that one transaction stores, or one query looks up.
_ROWS_PER_BATCH = 500


class RowOutcome(StrEnum):
    """The result of a row."""

    CREATED = "created"
    ALREADY_THERE = "already_there"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class RowResult:
    """What became of a row: its link's id, and the errors of its fields if it was refused."""

    row: ImportRow
    link_id: LinkId
    outcome: RowOutcome
    errors: tuple[RequestError, ...] = ()


@dataclass(slots=True)
class ImportReport:
    """The number of rows with each outcome; and the refused rows with their reasons, in the file's order.

    `results` has what became of each row, in the file's order too.

    In the report of a dry run, `CREATED` are links that would be created. `missing_domains` are those that
    rows name and the organization lacks, with how many rows do; `new_tags` are tags that were made for rows.
    """

    counts: Counter[RowOutcome] = field(default_factory=Counter)
    refused: list[tuple[ImportRow, str]] = field(default_factory=list)
    results: list[RowResult] = field(default_factory=list)
    missing_domains: Counter[str] = field(default_factory=Counter)
    new_tags: list[str] = field(default_factory=list)


class LinkImport:
    """Imports rows for one organization. A dry run checks everything but stores nothing."""

    def __init__(
        self,
        database: Database,
        org_id: OrgId,
        now: datetime,
        *,
        dry_run: bool,
        policies: DestinationPolicies | None = None,
    ) -> None:
        """Without `policies`, the operator blocks nothing."""
        self._database = database
        self._policies = policies or DestinationPolicies(database)
        self._org_id = org_id
        self._now = now
        self._dry_run = dry_run
        self._report = ImportReport()
        self._tags = ImportTags(database, org_id, now, dry_run=dry_run)

    async def run(self, rows: Sequence[ImportRow], advance: Callable[[int], object]) -> ImportReport:
        """Import these rows. `advance` is called with the number of rows done since its last call."""
        self._report = ImportReport()
        domains = frozenset(await list_domains(self._database, self._org_id))
        policy = (await self._policies.of([self._org_id]))[self._org_id]
        planned = PlannedLinks(self._database, self._org_id, domains, policy, self._now)
        self._report.new_tags = self._tags.made
        for start in range(0, len(rows), _ROWS_PER_BATCH):
            batch = rows[start : start + _ROWS_PER_BATCH]
            for result in await self._results(batch, planned):
                self._report.results.append(result)
                self._report.counts[result.outcome] += 1
                if result.errors:
                    self._report.refused.append((result.row, str(result.errors[0])))
            advance(len(batch))
        return self._report

    async def _results(self, batch: Sequence[ImportRow], planned: PlannedLinks) -> list[RowResult]:
        ids = [LinkId(str(uuid.uuid5(_NAMESPACE, f"{self._org_id}\n{row.text}"))) for row in batch]
        existing = await find_links(self._database, ids, self._org_id)
        parsed_rows = {id_: _parsed(row) for id_, row in zip(ids, batch, strict=True) if id_ not in existing}
        new = {id_: link for id_, link in parsed_rows.items() if isinstance(link, ImportedLink)}
        errors: dict[LinkId, Exception] = {
            id_: error for id_, error in parsed_rows.items() if isinstance(error, RequestError)
        }
        untagged = await self._tags.make(new)
        new = {id_: link for id_, link in new.items() if id_ not in untagged}
        errors |= untagged
        errors |= await self._check_planned(new, planned) if self._dry_run else await self._store(new)
        return [
            RowResult(row, id_, RowOutcome.ALREADY_THERE)
            if id_ in existing
            else self._result(row, id_, errors.get(id_))
            for id_, row in zip(ids, batch, strict=True)
        ]

    async def _check_planned(
        self, new: Mapping[LinkId, ImportedLink], planned: PlannedLinks
    ) -> dict[LinkId, Exception]:
        """The errors that storing these links would raise, by link."""
        await planned.look_ahead(link.new for link in new.values())
        errors: dict[LinkId, Exception] = {}
        for (
            id_,
            link,
        ) in new.items():  # one by one: a later row may use the path of an earlier one, or lead to it
            try:
                await planned.add(link.new)
            except (RequestError, DomainNotConfigured, PathTaken) as error:
                errors[id_] = error
        return errors

    async def _store(self, new: Mapping[LinkId, ImportedLink]) -> dict[LinkId, Exception]:
        """Store these links. Returns an error for each link that was refused."""
        if not new:
            return {}
        creations = [
            CreateLink(await self._hashed(link.new), id_, link.with_state) for id_, link in new.items()
        ]
        requests = [
            LinkRequest(self._org_id, CreatedBy.PERSON, self._now, creation) for creation in creations
        ]
        (results,) = await write_links(self._database, [Submission(requests)], self._policies)
        return {id_: result.error for id_, result in zip(new, results, strict=True) if result.error}

    async def _hashed(self, new: NewLink) -> NewLink:
        return replace(new, fields=await with_password_hash(new.fields, f"import {self._org_id}"))

    def _result(self, row: ImportRow, link_id: LinkId, error: Exception | None) -> RowResult:
        if error is None:
            return RowResult(row, link_id, RowOutcome.CREATED)
        if isinstance(error, DomainNotConfigured):
            self._report.missing_domains[str(error)] += 1
        return RowResult(row, link_id, RowOutcome.REFUSED, _errors_of(error))


def _errors_of(error: Exception) -> tuple[RequestError, ...]:
    match error:
        case PathTaken():
            return (InvalidField("selected_path", "is already in use on this domain"),)
        case DomainNotConfigured():
            return (InvalidField("domain", f"{error} is not configured for the organization"),)
        case FieldError():
            return error.every
        case RequestError():
            return (error,)
    raise error


def _parsed(row: ImportRow) -> ImportedLink | RequestError:
    try:
        return row.parse()
    except RequestError as error:
        return error
