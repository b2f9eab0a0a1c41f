"""Exports an organization to an archive file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

from backend.archives.archive_file import ArchiveWriter, Header
from backend.domain.ids import OrgId
from backend.storage.accounts.organizations import get_organization
from backend.storage.driver.mongo import Database, server_time
from backend.storage.lifecycle.archive import count_owned, read_owned, snapshot
from backend.system.whole_file import whole_or_nothing

# Called once with the total number of documents, then with the number written since the last call.
Progress = Callable[[int, int], object]
_DOCUMENTS_PER_REPORT = 500


async def export_organization(
    database: Database, org_id: OrgId, path: Path, progress: Progress, *, in_snapshot: bool = True
) -> Counter[str]:
    """Write the organization to `path`. Returns the number of documents of each collection.

    With `in_snapshot`, all data is as it was at one moment, although the service goes on. Raises
    UnknownOrganization, SnapshotTooOld and OSError; then a file that was there before is unchanged.
    """
    organization = await get_organization(database, org_id)
    with whole_or_nothing(path) as file:
        writer = ArchiveWriter(file)
        now = await server_time(database)
        writer.write_header(Header(org_id, organization.name, now, organization.click_days))
        await _write_documents(database, org_id, writer, progress, in_snapshot=in_snapshot)
        writer.write_end()
    return writer.counts


async def _write_documents(
    database: Database, org_id: OrgId, writer: ArchiveWriter, progress: Progress, *, in_snapshot: bool
) -> None:
    async with snapshot(database, is_consistent=in_snapshot) as session:
        total, reported = await count_owned(database, session, org_id), 0
        async for name, document in read_owned(database, session, org_id):
            writer.write_document(name, document)
            if (written := writer.counts.total()) - reported >= _DOCUMENTS_PER_REPORT:
                progress(total, written - reported)
                reported = written
        progress(total, writer.counts.total() - reported)
