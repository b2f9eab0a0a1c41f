"""Puts an organization's file into a database that does not know the organization."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from backend.archives.archive_file import Entry, Header, check_whole, read_entries, read_header
from backend.storage.collection import Stage
from backend.storage.collections import archived_collections
from backend.storage.mongo import Database, Document
from backend.storage.restores import begin_restore, finish_restore, insert_history, refuse_taken

# Told how many more bytes of the file are checked and, later, stored.
Advance = Callable[[int], object]
_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Restored:
    """Whose archive was restored, its documents by collection, and whether an earlier restore went on."""

    header: Header
    counts: Counter[str]
    resumed: bool


async def restore_organization(database: Database, path: Path, advance: Advance) -> Restored:
    """Restore the file. Run again after an interruption, it goes on where it was.

    The file is read and checked as a whole before anything is stored. Raises UnreadableArchive, and
    AlreadyTaken or AnotherRestore where the database has what the file holds.
    """
    header = read_header(path)
    counts, fingerprint = check_whole(path, header, advance)
    position = await begin_restore(database, header.org_id, fingerprint)
    if position is None:
        for name, batch in _batches(read_entries(path, header)):
            await refuse_taken(database, name, _documents(batch))
    await _Restore(database, path, header, fingerprint, advance).run(position or 0)
    return Restored(header, counts, resumed=position is not None)


@dataclass(frozen=True, slots=True)
class _Restore:
    """A restore under way."""

    database: Database
    path: Path
    header: Header
    fingerprint: str
    advance: Advance

    async def run(self, position: int) -> None:
        """Store what stands behind `position` bytes of the file."""
        last = {each.name for each in archived_collections().values() if each.stage is Stage.SETUP}
        setup: dict[str, list[Document]] = {}
        await self._store("", [], position)
        self.advance(position)
        for name, batch in _batches(read_entries(self.path, self.header, position)):
            if name in last:
                setup.setdefault(name, []).extend(_documents(batch))
            else:
                await self._store(name, _documents(batch), batch[-1].end)
            self.advance(batch[-1].end - position)
            position = batch[-1].end
        await finish_restore(self.database, self.header.org_id, setup)

    async def _store(self, name: str, documents: list[Document], position: int) -> None:
        await insert_history(
            self.database,
            name,
            documents,
            org_id=self.header.org_id,
            fingerprint=self.fingerprint,
            position=position,
        )


def _batches(entries: Iterable[Entry]) -> Iterator[tuple[str, list[Entry]]]:
    """The entries in groups of one collection each, and of no more than one request to the database."""
    for name, group in groupby(entries, key=lambda entry: entry.collection):
        batch: list[Entry] = []
        for entry in group:
            batch.append(entry)
            if len(batch) == _AT_ONCE:
                yield name, batch
                batch = []
        if batch:
            yield name, batch


def _documents(batch: list[Entry]) -> list[Document]:
    return [entry.document for entry in batch]
