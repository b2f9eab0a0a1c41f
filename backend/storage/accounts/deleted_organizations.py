"""The `deleted_organizations` collection: ids of organizations that were deleted.

Data that arrives for such an organization later, such as clicks that waited on a host's disk, is recognized
by the id, and is deleted too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from pymongo import IndexModel

from backend.domain.errors import OperatorError
from backend.domain.ids import LinkId, OrgId
from backend.storage.driver.mongo import ClientSession, Database, Document
from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import Collection, NoRetention, NotArchived, NotPersonal, NotSharded
from backend.storage.schema.ownership import NotOwned
from backend.storage.schema.work_item import WorkItem, items_of

NAME = "deleted_organizations"
_UNFINISHED = {"is_gone": False}
# A transaction that was under way when a deletion began may take a minute to end.
_TRANSACTIONS_END_WITHIN = timedelta(minutes=2)
COLLECTION = Collection(
    name=NAME,
    indexes=[IndexModel("is_gone", partialFilterExpression=_UNFINISHED, name="unfinished")],
    owned_by=NotOwned("an organization that is no more owns nothing"),
    personal=NotPersonal("ids of organizations"),
    retention=NoRetention("what was late may come at any time"),
    archived=NotArchived("the deletion of an organization is the installation's"),
    shard_key=NotSharded("few and small"),
    audited=NotAudited("the log of the organization is gone with it"),
)


@dataclass(frozen=True, slots=True)
class Deletion:
    """A deletion that was begun and has not ended, since data may still arrive late."""

    org_id: OrgId
    begun_at: datetime

    @property
    def over_at(self) -> datetime:
        """The time by which every transaction has ended that was under way when the deletion began."""
        return self.begun_at + _TRANSACTIONS_END_WITHIN


class BeingDeleted(OperatorError):
    """The organization is being deleted, and parts of it may still be there."""

    def __init__(self, deletion: Deletion) -> None:
        command = f"waylink organization delete --org {deletion.org_id}"
        super().__init__(
            f"The organization {deletion.org_id} is being deleted, "
            f"until {deletion.over_at:%Y-%m-%d %H:%M:%S} UTC at least. `{command}` waits for that and ends "
            "it; so does a running service, within a minute more. Then restore it."
        )


async def begin_deletion(database: Database, session: ClientSession, org_id: OrgId, now: datetime) -> None:
    """Note in the caller's transaction that the organization is being deleted, unless it was noted before."""
    begun = {"$setOnInsert": {"at": now, "is_gone": False}}
    await database[NAME].update_one({"_id": org_id}, begun, upsert=True, session=session)


async def note_end(database: Database, org_id: OrgId) -> None:
    """Note that the deletion has ended: nothing of the organization is left."""
    await database[NAME].update_one({"_id": org_id}, {"$set": {"is_gone": True}})


async def find_disabled_to(database: Database, org_id: OrgId) -> str:
    """The id up to which the links of an organization that is being deleted are disabled; "" if none are."""
    document = await database[NAME].find_one({"_id": org_id}, {"disabled_to": 1}) or {}
    return str(document.get("disabled_to", ""))


async def note_disabled_to(database: Database, org_id: OrgId, link_id: LinkId) -> None:
    """Note that links up to this id are disabled, for whoever goes on with the deletion."""
    await database[NAME].update_one({"_id": org_id} | _UNFINISHED, {"$set": {"disabled_to": link_id}})


async def deletion_items(database: Database) -> list[WorkItem[Deletion]]:
    """The deletions that were begun and are not finished, each to be ended by itself."""
    return await items_of(database[NAME].find(_UNFINISHED), _from_document, owner_in=None)


async def find_deleted(
    database: Database, org_ids: Iterable[OrgId], session: ClientSession | None = None
) -> set[OrgId]:
    """Those of these organizations that were deleted, or are being deleted."""
    deleted = database[NAME].find({"_id": {"$in": list(org_ids)}}, {"_id": 1}, session=session)
    return {OrgId(document["_id"]) async for document in deleted}


async def find_deletion(database: Database, org_id: OrgId) -> Deletion | None:
    """The deletion of the organization; None if none was begun, or it is finished."""
    document = await database[NAME].find_one({"_id": org_id} | _UNFINISHED)
    return _from_document(document) if document else None


async def refuse_being_deleted(database: Database, org_id: OrgId) -> None:
    """Raise BeingDeleted if a deletion of the organization is not finished."""
    if deletion := await find_deletion(database, org_id):
        raise BeingDeleted(deletion)


async def forget_deletion(database: Database, org_id: OrgId) -> None:
    """Forget that the organization was deleted, so that it can be restored from an archive."""
    await database[NAME].delete_one({"_id": org_id})


def _from_document(document: Document) -> Deletion:
    return Deletion(OrgId(document["_id"]), document["at"])
