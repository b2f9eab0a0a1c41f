"""The `restores` collection: how far each restore of an organization has come."""

from __future__ import annotations

from backend.domain.ids import OrgId
from backend.storage.driver.mongo import Database
from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import Collection, NoRetention, NotArchived, NotPersonal, NotSharded
from backend.storage.schema.ownership import NotOwned

NAME = "restores"


COLLECTION = Collection(
    name=NAME,
    indexes=[],
    owned_by=NotOwned("the restore of an organization is the installation's"),
    personal=NotPersonal("positions in files"),
    retention=NoRetention("gone when a restore is finished"),
    archived=NotArchived("gone when a restore is finished"),
    shard_key=NotSharded("gone when a restore is finished"),
    audited=NotAudited("the command that restores records it"),
)


async def unfinished_restores(database: Database) -> set[OrgId]:
    """The organizations whose restore was begun and is not finished."""
    return {OrgId(org_id) for org_id in await database[NAME].distinct("_id")}
