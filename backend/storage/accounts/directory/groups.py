"""The `provisioned_groups` collection: groups that an organization's identity provider tells."""

from __future__ import annotations

from collections.abc import Collection as AnyCollection
from datetime import datetime

from pymongo import IndexModel

from backend.domain.accounts.provisioning.groups import MOST_GROUPS, ProvisionedGroup
from backend.domain.accounts.provisioning.people import folded
from backend.domain.ids import OrgId
from backend.storage.accounts.directory.entries import ENTRY_INDEXES, DirectoryEntries
from backend.storage.driver.mongo import ClientSession, Database, Document
from backend.storage.schema.audited import Audited
from backend.storage.schema.collection import Collection, NoRetention, NotArchived, NotPersonal, NotSharded
from backend.storage.schema.document_shape import DocumentShape
from backend.storage.schema.own_documents import OwnDocuments
from backend.storage.schema.ownership import ByField

NAME = "provisioned_groups"
COLLECTION = Collection(
    name=NAME,
    indexes=[
        IndexModel([("org_id", 1), ("display_name_key", 1)], unique=True),
        IndexModel([("org_id", 1), ("member_ids", 1)]),
        *ENTRY_INDEXES,
    ],
    owned_by=ByField(),
    personal=NotPersonal("groups of the organization's own people, not visitors"),
    retention=NoRetention("a group stays until the identity provider deletes it"),
    archived=NotArchived("the provider tells it again, and a forged one could name an account of others"),
    shard_key=NotSharded("few"),
    audited=Audited(
        kind="provisioned_group", name="display_name", ignored=frozenset({"display_name_key", "modified_at"})
    ),
)
_SHAPE = DocumentShape(record=ProvisionedGroup)


async def groups_of(
    database: Database, org_id: OrgId, person_ids: AnyCollection[str], session: ClientSession | None = None
) -> list[ProvisionedGroup]:
    """The organization's groups with one of these people in them, by name."""
    owned = {"org_id": org_id, "member_ids": {"$in": list(person_ids)}}
    found = database[NAME].find(owned, session=session).sort("display_name_key", 1)
    return [_SHAPE.from_document(document) async for document in found]


async def list_groups(database: Database, org_id: OrgId) -> list[ProvisionedGroup]:
    """All groups of the organization, by name."""
    found = database[NAME].find({"org_id": org_id}).sort("display_name_key", 1)
    return [_SHAPE.from_document(document) async for document in found]


async def delete_from_groups(
    database: Database, org_id: OrgId, person_id: str, now: datetime, session: ClientSession
) -> None:
    """Take a person, who is deleted, out of all groups."""
    having = {"org_id": org_id, "member_ids": person_id}
    change = {
        "$pull": {"member_ids": person_id},
        "$set": {"modified_at": now},
        "$inc": {"version": 1},
    }
    await database[NAME].update_many(having, change, session=session)


def _to_document(group: ProvisionedGroup) -> Document:
    return _SHAPE.to_document(group) | {"display_name_key": folded(group.display_name)}


GROUPS = DirectoryEntries(
    OwnDocuments(NAME, MOST_GROUPS, "Groups", "groups"), _to_document, _SHAPE.from_document
)
