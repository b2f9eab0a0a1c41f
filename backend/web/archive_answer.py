"""The answer with the file of an archive."""

from __future__ import annotations

from quart import Response

from backend.domain.archives.archive import Archive, ArchiveState
from backend.domain.audit.entries import AuditTarget
from backend.storage.archives.pieces import read_pieces
from backend.storage.audit.facts import record
from backend.web.current import resources
from backend.web.file_answer import file_answer
from backend.web.file_part import asked_part

MEDIA_TYPE = "application/x-ndjson"


class NotReady(Exception):
    """The archive is not made yet, or can't be made."""


async def archive_answer(archive: Archive) -> Response:
    """The file, or the part of it that the request wants. Raises NotReady and NoSuchPart.

    The audit log has each download from the file's beginning on.
    """
    if archive.state is not ArchiveState.READY:
        raise NotReady
    part = asked_part(archive.size, archive.sha256)
    headers = part.headers | {
        "Content-Disposition": f'attachment; filename="{archive.file_name}"',
        "ETag": f'"{archive.sha256}"',
    }
    if part.start == 0:
        target = AuditTarget("archive", archive.id)
        await record(resources().database, [archive.org_id], "archive.downloaded", target)
    pieces = read_pieces(resources().database, archive.making, part.start, part.end)
    response = await file_answer(pieces, MEDIA_TYPE, headers)
    response.status_code = 200 if part.is_whole else 206
    return response
