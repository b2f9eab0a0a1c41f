"""Restores an organization from an archive file, into a database that does not have it yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path

from backend.archives.archive_file import (
    Contents,
    Entry,
    Header,
    check_whole,
    read_entries,
    read_header,
)
from backend.archives.checking import DocumentChecks
from backend.storage.accounts.deleted_organizations import forget_deletion, refuse_being_deleted
from backend.storage.driver.mongo import Database, Document
from backend.storage.lifecycle.archive_context import ArchiveContext
from backend.storage.lifecycle.collections import archived_collections
from backend.storage.lifecycle.restores import (
    LeftOutMember,
    begin_restore,
    find_position,
    finish_restore,
    insert_history,
    refuse_taken,
)
from backend.storage.schema.collection import Stage
from backend.storage.visitors import counted_once

# Called with the bytes that were checked, and later stored, since the last call.
Advance = Callable[[int], object]
_DOCUMENTS_PER_BATCH = 500
# Of lines: some documents have megabytes, most some hundred bytes.
_BYTES_PER_BATCH = 16_000_000


@dataclass(frozen=True, slots=True)
class RestoreResult:
    """The restored organization, its documents by collection, and if an earlier restore was continued.

    `left_out` are members who are to be invited: other users have their addresses here.
    """

    header: Header
    counts: Counter[str]
    resumed: bool
    left_out: Sequence[LeftOutMember]


async def restore_organization(
    database: Database, path: Path, now: datetime, advance: Advance, is_api_host: Callable[[str], bool]
) -> RestoreResult:
    """Restore the file. After an interruption, run it again: it continues where it stopped.

    First the whole file is checked: each document must be valid as a new one, must not refer to anything of
    another organization, and must not stay longer than new ones from `now` on. `advance` is called with the
    number of bytes done since its last call; `is_api_host` says which host names can't be link domains.
    Raises UnreadableArchive, AlreadyTaken if the database already has something that the file contains,
    BeingDeleted, OtherRestoreUnfinished and RestoreCancelled.
    """
    header = read_header(path)
    contents = check_whole(path, header, now, advance)
    await refuse_being_deleted(database, header.org_id)
    position = await find_position(database, header.org_id, contents.fingerprint)
    if position is None:
        await _check(database, read_entries(path, header), contents.context, is_api_host)
    await begin_restore(database, header.org_id, contents.fingerprint, contents.context.domains)
    await forget_deletion(database, header.org_id)
    left_out = await _Restore(database, path, header, contents, advance).run(position or 0)
    return RestoreResult(header, contents.counts, position is not None, left_out)


async def _check(
    database: Database, entries: Iterable[Entry], context: ArchiveContext, is_api_host: Callable[[str], bool]
) -> None:
    """Raise RefusedArchive for invalid documents, and AlreadyTaken for those that the database has."""
    checks = DocumentChecks(database, context, is_api_host)
    for name, batch in _batches(entries):
        for entry in batch:
            await checks.check(entry)
        if not checks.total:
            await refuse_taken(database, name, _documents(batch))
    await checks.finish()


@dataclass(frozen=True, slots=True)
class _Restore:
    """A restore in progress."""

    database: Database
    path: Path
    header: Header
    contents: Contents
    advance: Advance

    async def run(self, position: int) -> Sequence[LeftOutMember]:
        """Store the documents after the first `position` bytes of the file. Returns the members left out."""
        setup_names = {
            collection.name
            for collection in archived_collections().values()
            if collection.stage is Stage.SETUP
        }
        setup: dict[str, list[Document]] = {}
        self.advance(position)
        for name, batch in _batches(read_entries(self.path, self.header, position)):
            if name in setup_names:
                setup.setdefault(name, []).extend(_documents(batch))
            else:
                await self._store(name, _documents(batch), batch[-1].end)
            self.advance(batch[-1].end - position)
            position = batch[-1].end
        return await finish_restore(self.database, self.header.org_id, setup)

    async def _store(self, name: str, documents: list[Document], position: int) -> None:
        if name == counted_once.NAME:
            marks = self.contents.context.marks
            documents = [counted_once.restored(document, provable=marks) for document in documents]
        await insert_history(
            self.database,
            name,
            documents,
            org_id=self.header.org_id,
            fingerprint=self.contents.fingerprint,
            position=position,
        )


def _batches(entries: Iterable[Entry]) -> Iterator[tuple[str, list[Entry]]]:
    """The entries in groups. Each belongs to one collection and fits into one request to the database."""
    for name, group in groupby(entries, key=lambda entry: entry.collection):
        batch: list[Entry] = []
        size = 0
        for entry in group:
            if batch and (len(batch) == _DOCUMENTS_PER_BATCH or size + entry.size > _BYTES_PER_BATCH):
                yield name, batch
                batch, size = [], 0
            batch.append(entry)
            size += entry.size
        if batch:
            yield name, batch


def _documents(batch: list[Entry]) -> list[Document]:
    return [entry.document for entry in batch]
