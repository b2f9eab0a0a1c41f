"""Exports an organization as an archive file."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from backend.archives.archive_file import ArchiveWriter, Header
from backend.archives.checking import read_back
from backend.domain.ids import OrgId
from backend.storage.accounts.organizations import get_organization
from backend.storage.archives.pieces import PIECE_BYTES
from backend.storage.driver.mongo import Database, server_time
from backend.storage.lifecycle.archive import count_owned, read_owned, snapshot
from backend.system.whole_file import whole_or_nothing

# Called after each piece with the total number of documents, and the number written since the last call.
Progress = Callable[[int, int], object]


@dataclass(frozen=True, slots=True)
class ArchivePiece:
    """The next bytes of an archive: PIECE_BYTES of them, but in the last piece.

    `total` is the number of documents that the whole archive has, `counts` that of each collection that are
    written so far, some of them in the next piece.
    """

    data: bytes
    total: int
    counts: Counter[str]


async def export_organization(
    database: Database, org_id: OrgId, path: Path, progress: Progress, *, in_snapshot: bool = True
) -> Counter[str]:
    """Write the organization to `path`, with its members' credentials.

    Returns the number of documents of each collection.

    With `in_snapshot`, all data is as it was at one moment, although the service goes on. What was written is
    read back before it takes the place of a file that was there before, unless it is a device or a pipe.
    Raises UnknownOrganization, SnapshotTooOld, OSError, and UnreadableArchive if it could not be restored;
    then that file is unchanged.
    """
    counts, reported = Counter[str](), 0
    with whole_or_nothing(path) as file:
        made = archive_pieces(database, org_id, with_credentials=True, in_snapshot=in_snapshot)
        async with aclosing(made) as pieces:
            async for piece in pieces:
                file.write(piece.data)
                counts = piece.counts
                progress(piece.total, counts.total() - reported)
                reported = counts.total()
        file.flush()
        if isinstance(file.name, str) and (written := Path(file.name)).is_file():
            await read_back(database, written, await server_time(database))
    return counts


async def archive_pieces(
    database: Database, org_id: OrgId, *, with_credentials: bool, in_snapshot: bool = True
) -> AsyncGenerator[ArchivePiece, None]:
    """The organization's archive, of which no more than a piece and a document is in memory at a time.

    Its members' credentials are only in one for whoever runs the service: an owner may not have them. Raises
    as `export_organization`.
    """
    organization = await get_organization(database, org_id)
    buffer = BytesIO()
    writer = ArchiveWriter(buffer)
    now = await server_time(database)
    header = Header(org_id, organization.name, now, organization.click_days, with_credentials)
    writer.write_header(header)
    async with snapshot(database, is_consistent=in_snapshot) as session:
        total = await count_owned(database, session, org_id)
        async for name, document in read_owned(database, session, org_id, with_credentials=with_credentials):
            writer.write_document(name, document)
            while buffer.tell() >= PIECE_BYTES:
                yield ArchivePiece(_taken(buffer), total, writer.counts.copy())
    writer.write_end()
    while data := _taken(buffer):
        yield ArchivePiece(data, total, writer.counts.copy())


def _taken(buffer: BytesIO) -> bytes:
    """Take the first piece out of the buffer, which goes on to be written behind the rest."""
    written = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    buffer.write(written[PIECE_BYTES:])
    return written[:PIECE_BYTES]
