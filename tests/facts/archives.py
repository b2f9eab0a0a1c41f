"""Archives in the database, as the service stores them."""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from backend.domain.archives.archive import Archive, ArchiveState
from backend.domain.ids import OrgId
from backend.storage.archives import archives
from backend.storage.archives.pieces import add_piece
from backend.storage.driver.mongo import Database, Document

KEPT = timedelta(days=7)


def archive_document(
    org_id: OrgId, now: datetime, state: ArchiveState = ArchiveState.READY, **facts: Any
) -> Document:
    """An archive in this state, with these facts, as it is stored; nobody is about to make it."""
    archive = Archive(
        str(uuid.uuid4()), org_id, "ada@shop.example", now, now + KEPT, state, making_id="made", **facts
    )
    document = asdict(archive)
    return {"_id": document.pop("id"), **document}


async def store_archive(
    database: Database, org_id: OrgId, now: datetime, state: ArchiveState = ArchiveState.READY, **facts: Any
) -> Archive:
    """Store such an archive."""
    document = archive_document(org_id, now, state, **facts)
    await database[archives.NAME].insert_one(document)
    return await archives.get_archive(database, org_id, document["_id"], now)


async def store_file(database: Database, org_id: OrgId, now: datetime, data: bytes = b"file") -> Archive:
    """A ready archive with this file, of one piece."""
    sha256 = hashlib.sha256(data).hexdigest()
    archive = await store_archive(database, org_id, now, size=len(data), sha256=sha256)
    await add_piece(database, archive.making, 0, data, archive.expires_at)
    return archive
