"""Archives that are changed and whole again, and what tests do with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path

from backend.archives.archive_file import ArchiveWriter, Entry, read_entries, read_header
from backend.archives.restore import RestoreResult, restore_organization
from backend.storage.driver.mongo import Database, Document
from backend.storage.driver.unrecorded import unrecorded
from backend.storage.outbox import entries as feed_entries
from backend.storage.outbox.sequencer import place_all
from backend.storage.visitors import counted_once
from backend.system.clock import utc_now
from backend.web.api_host import ApiHost
from tests.facts.organizations import TestOrganization

Change = Callable[[str, Document], Document | None]
MARKS = counted_once.NAME


@dataclass(frozen=True)
class Archive:
    """The archive of an organization that is no longer in the database."""

    file: Path
    organization: TestOrganization

    @cached_property
    def entries(self) -> list[Entry]:
        """Every document in the archive's file, which tests leave as they are."""
        return list(read_entries(self.file, read_header(self.file)))


async def remove(database: Database, archive: Archive) -> None:
    """Delete what the archive holds, and what was restored of it, without an entry about that in its log."""
    # What still waits for a place in the feed would get one later, and the feed its head again.
    await place_all(database, archive.organization.id)
    database = unrecorded(database)
    for entry in archive.entries:
        await database[entry.collection].delete_one({"_id": entry.document["_id"]})
    for name in (MARKS, feed_entries.NAME):
        await database[name].delete_many({"org_id": archive.organization.id})


def forge(archive: Archive, folder: Path, change: Change, *more: tuple[str, Document]) -> Path:
    """The archive with its documents changed, with more of them, and whole again.

    Where `change` gives None a document stays.
    """
    forged, waiting = folder / "forged.jsonl", list(more)
    with forged.open("wb") as opened:
        writer = ArchiveWriter(opened)
        writer.write_header(read_header(archive.file))
        for entry in archive.entries:
            for added in [pair for pair in waiting if pair[0] == entry.collection]:
                writer.write_document(*added)
                waiting.remove(added)
            changed = change(entry.collection, entry.document)
            writer.write_document(entry.collection, changed or entry.document)
        writer.write_end()
    assert not waiting
    return forged


def unchanged(_name: str, _document: Document) -> None:
    """Leaves a document as it is."""


async def restore(database: Database, file: Path, now: datetime | None = None) -> RestoreResult:
    """Restore a file as `waylink restore` does, now or at another time."""
    is_api_host = ApiHost("https://api.shop.example").owns
    return await restore_organization(database, file, now or utc_now(), lambda _: None, is_api_host)
