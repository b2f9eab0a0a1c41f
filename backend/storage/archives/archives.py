"""The `archives` collection: the archives that organizations asked for, and how far each has come.

A unique index lets an organization have one at a time that is still to be made. What makes an archive writes
only while the archive has the id of that attempt: one that was suspended, and whose turn another has taken,
changes nothing any more.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta

from pymongo import IndexModel, ReturnDocument

from backend.concurrency.cancellation import until_ended
from backend.domain.archives.archive import (
    MOST_ARCHIVES,
    Archive,
    ArchiveProgress,
    ArchiveState,
    ArchiveUnderWay,
    DiskNearlyFull,
    Making,
)
from backend.domain.errors import TooManyItems
from backend.domain.ids import OrgId
from backend.domain.mail.language import Language
from backend.storage.archives.pieces import delete_pieces
from backend.storage.driver.disk import read_disk
from backend.storage.driver.mongo import (
    ClientSession,
    Database,
    Document,
    StorageError,
    in_transaction,
    is_duplicate,
)
from backend.storage.driver.unrecorded import unrecorded
from backend.storage.schema.audited import Audited
from backend.storage.schema.collection import (
    EXPIRY_INDEX,
    Collection,
    NoRetention,
    NotArchived,
    NotPersonal,
    NotSharded,
)
from backend.storage.schema.document_shape import DocumentShape
from backend.storage.schema.own_documents import OwnDocuments, existing
from backend.storage.schema.ownership import ByField
from backend.storage.schema.work_item import WorkItem, items_of

NAME = "archives"
_BEGIN_SECONDS = 1.0  # that whoever stops waits for the database
_OPEN = {"is_open": True}
COLLECTION = Collection(
    name=NAME,
    indexes=[
        EXPIRY_INDEX,
        IndexModel("org_id"),
        IndexModel("org_id", unique=True, partialFilterExpression=_OPEN, name="one_open"),
        IndexModel("asked_at", partialFilterExpression=_OPEN, name="open"),
        IndexModel("is_told", partialFilterExpression={"is_told": False}, name="untold"),
    ],
    owned_by=ByField(),
    personal=NotPersonal("the organization's own people asked for them; gone within days"),
    retention=NoRetention("gone after some days, which a setting says"),
    archived=NotArchived("an archive has no archives in it"),
    shard_key=NotSharded("few, and gone within days"),
    audited=Audited(kind="archive", ignored=frozenset({"expires_at", "progress", "is_open", "is_told"})),
)
_SHAPE = DocumentShape(record=Archive)
_OWN = OwnDocuments(NAME, MOST_ARCHIVES, "archive", "archives")


async def ask_archive(
    database: Database,
    org_id: OrgId,
    asked_by: str,
    *,
    kept: timedelta,
    mail_to: str | None,
    language: Language,
    now: datetime,
) -> Archive:
    """Have an archive made. It, or why there is none, is there for the time `kept`.

    Raises ArchiveUnderWay, TooManyItems and DiskNearlyFull.
    """
    disk = await read_disk(database)
    if disk and disk.is_nearly_full:
        raise DiskNearlyFull(disk.free)
    archive = Archive(
        str(uuid.uuid4()), org_id, asked_by, now, now + kept, mail_to=mail_to, language=language
    )
    document = _SHAPE.to_document(archive) | {"is_open": True}

    async def work(session: ClientSession) -> None:
        kept = _kept(org_id, now) | {"state": {"$ne": ArchiveState.FAILED.value}}
        if await database[NAME].count_documents(kept, session=session) >= MOST_ARCHIVES:
            raise TooManyItems("archive", MOST_ARCHIVES, "archives")
        await database[NAME].insert_one(document, session=session)

    try:
        await in_transaction(database, work)
    except StorageError as error:
        if is_duplicate(error):
            raise ArchiveUnderWay from None
        raise
    return archive


async def list_archives(database: Database, org_id: OrgId, now: datetime) -> list[Archive]:
    """The organization's archives, the newest first."""
    found = database[NAME].find(_kept(org_id, now)).sort("asked_at", -1)
    return [_SHAPE.from_document(document) async for document in found]


async def get_archive(database: Database, org_id: OrgId, archive_id: str, now: datetime) -> Archive:
    """The organization's archive with this id. Raises ItemUnknown."""
    return _SHAPE.from_document(
        existing(await database[NAME].find_one(_kept(org_id, now) | {"_id": archive_id}))
    )


async def delete_archive(database: Database, org_id: OrgId, archive_id: str) -> None:
    """Delete an archive and its file. If it is being made, that ends. Raises ItemUnknown."""
    await _OWN.delete(database, org_id, archive_id)
    await delete_pieces(database, org_id, archive_id)


async def next_open(database: Database, but: Sequence[str] = ()) -> list[WorkItem[Archive]]:
    """The archive that is to be made next, of whichever organization, without those in `but`; or none."""
    is_open = {**_OPEN, "_id": {"$nin": list(but)}}
    return await items_of(database[NAME].find(is_open).sort("asked_at", 1).limit(1), _SHAPE.from_document)


def new_making(archive: Archive) -> Making:
    """Another attempt, which is still to begin."""
    return Making(archive.org_id, archive.id, uuid.uuid4().hex)


async def begin_making(database: Database, archive: Archive, making: Making) -> Archive | None:
    """Note that this attempt to make it begins, and delete what the one before stored. None if it was
    deleted.

    Only pieces of that attempt go: whoever is suspended here may wake up when another has made the archive.
    Whoever is cancelled meanwhile gives it back next, and what is noted here must not come after that.
    """
    return await until_ended(_begin(database, archive, making), _BEGIN_SECONDS)


async def _begin(database: Database, archive: Archive, making: Making) -> Archive | None:
    begun = {
        "$set": {
            "state": ArchiveState.IN_PROGRESS.value,
            "making_id": making.id,
            "progress": asdict(ArchiveProgress()),
        },
        "$inc": {"attempts": 1},
    }
    document = await unrecorded(database)[NAME].find_one_and_update(
        {"_id": archive.id, "org_id": archive.org_id, **_OPEN}, begun, return_document=ReturnDocument.AFTER
    )
    if archive.making_id:
        await delete_pieces(database, archive.org_id, archive.id, archive.making_id)
    return _SHAPE.from_document(document) if document else None


async def note_progress(database: Database, making: Making, total: int, counts: Mapping[str, int]) -> bool:
    """Note how far the attempt is. Returns False if it is over: the archive was deleted, or made anew."""
    changes = {"progress": {"total": total, "counts": dict(counts)}}
    return await _update(database, making, {"$set": changes})


async def give_back(database: Database, making: Making) -> None:
    """Note that the attempt was stopped in order, and is none: another begins anew. Delete what it stored.

    Nothing is noted if it had not begun, or is over.
    """
    changes = {"state": ArchiveState.WAITING.value, "making_id": "", "progress": asdict(ArchiveProgress())}
    await _update(database, making, {"$set": changes, "$inc": {"attempts": -1}})
    await delete_pieces(database, making.org_id, making.archive_id, making.id)


async def note_ready(
    database: Database, archive: Archive, size: int, sha256: str, *, kept: timedelta, now: datetime
) -> bool:
    """Note that the whole file is stored. Returns False if the archive was deleted, or is made anew."""
    ready = {"size": size, "sha256": sha256, "expires_at": now + kept, "is_told": archive.mail_to is None}
    return await _end(database, archive, ArchiveState.READY, ready, now)


async def note_failed(database: Database, archive: Archive, error: str, now: datetime) -> None:
    """Note that it can't be made, and why, and delete what this attempt stored of its file."""
    await _end(database, archive, ArchiveState.FAILED, {"error": error}, now)
    await delete_pieces(database, archive.org_id, archive.id, archive.making_id)


async def list_untold(database: Database) -> list[WorkItem[Archive]]:
    """The ready archives of which a mail is still to tell."""
    return await items_of(database[NAME].find({"is_told": False}), _SHAPE.from_document)


async def note_told(database: Database, archive: Archive) -> None:
    """Note that a mail about it is queued."""
    own = {"_id": archive.id, "org_id": archive.org_id}
    await unrecorded(database)[NAME].update_one(own, {"$set": {"is_told": True}})


def _kept(org_id: OrgId, now: datetime) -> Document:
    """The query for those of the organization's archives whose time is not over."""
    return {"org_id": org_id, "expires_at": {"$gt": now}}


async def _end(
    database: Database, archive: Archive, state: ArchiveState, changes: Document, now: datetime
) -> bool:
    ended = {"$set": {"state": state.value, "ended_at": now} | changes, "$unset": _OPEN}
    return await _update(database, archive.making, ended)


async def _update(database: Database, making: Making, change: Document) -> bool:
    in_progress = {"_id": making.archive_id, "org_id": making.org_id, "making_id": making.id, **_OPEN}
    return bool((await unrecorded(database)[NAME].update_one(in_progress, change)).matched_count)
