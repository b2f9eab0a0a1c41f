"""The `announced_deletions` collection: organizations that are to be deleted, unless an owner takes it back.

A deletion begins in the transaction that takes the announcement away (lifecycle/organization_deletion). So it
is either begun or taken back, and only one process begins it.
"""

from __future__ import annotations

from datetime import datetime

from pymongo import IndexModel
from pymongo.errors import DuplicateKeyError

from backend.domain.accounts.deletion import ANNOUNCED_FOR, AnnouncedDeletion, DeletionAnnounced
from backend.domain.errors import OperatorError
from backend.domain.ids import OrgId
from backend.storage.driver.mongo import ClientSession, Database, Document
from backend.storage.schema.audited import Audited
from backend.storage.schema.collection import Collection, NoRetention, NotArchived, NotPersonal, NotSharded
from backend.storage.schema.ownership import ById
from backend.storage.schema.work_item import WorkItem, items_of

NAME = "announced_deletions"
COLLECTION = Collection(
    name=NAME,
    indexes=[IndexModel("asked_at")],
    owned_by=ById(),
    personal=NotPersonal("an owner asked for it, no visitor; gone within a day"),
    retention=NoRetention("gone within a day"),
    archived=NotArchived("whoever restores an archive wants to keep the organization"),
    shard_key=NotSharded("few, and gone within a day"),
    audited=Audited(kind="organization_deletion", created="announced", deleted="taken_back"),
)


class NotAnnounced(OperatorError):
    """No deletion of the organization is announced, or it has begun."""

    def __init__(self, org_id: OrgId) -> None:
        super().__init__(
            f"No deletion of the organization {org_id} is announced: it was taken back, or has begun."
        )


async def announce_deletion(
    database: Database, org_id: OrgId, asked_by: str, now: datetime
) -> AnnouncedDeletion:
    """Announce that the organization will be deleted. Raises DeletionAnnounced if that was done before."""
    try:
        await database[NAME].insert_one({"_id": org_id, "asked_by": asked_by, "asked_at": now})
    except DuplicateKeyError:
        raise DeletionAnnounced from None
    return AnnouncedDeletion(org_id, asked_by, now)


async def take_back_deletion(database: Database, org_id: OrgId) -> AnnouncedDeletion:
    """Take the announcement back: the organization stays. Raises NotAnnounced, also if it has begun."""
    document = await database[NAME].find_one_and_delete({"_id": org_id})
    if document is None:
        raise NotAnnounced(org_id)
    return _from_document(document)


async def find_announced(database: Database, org_id: OrgId) -> AnnouncedDeletion | None:
    """The announced deletion of the organization; None if there is none."""
    document = await database[NAME].find_one({"_id": org_id})
    return _from_document(document) if document else None


async def list_announced(database: Database) -> list[AnnouncedDeletion]:
    """The announced deletions in the order in which they begin."""
    return [_from_document(document) async for document in database[NAME].find().sort("asked_at", 1)]


async def announced_items(database: Database, until: datetime) -> list[WorkItem[AnnouncedDeletion]]:
    """The announced deletions that are due then, each to be begun by itself."""
    due = database[NAME].find({"asked_at": {"$lte": until - ANNOUNCED_FOR}}).sort("asked_at", 1)
    return await items_of(due, _from_document, owner_in=None)  # its owner goes, and what fails must stay


async def begin_announced(database: Database, session: ClientSession, deletion: AnnouncedDeletion) -> None:
    """Take the announcement away in the transaction that begins the deletion. Raises NotAnnounced."""
    announced = {"_id": deletion.org_id, "asked_at": deletion.asked_at}
    gone = await database[NAME].delete_one(announced, session=session)
    if not gone.deleted_count:
        raise NotAnnounced(deletion.org_id)


def _from_document(document: Document) -> AnnouncedDeletion:
    return AnnouncedDeletion(OrgId(document["_id"]), document["asked_by"], document["asked_at"])
