"""The `provisioned_groups` collection: groups that an organization's identity provider tells."""

from __future__ import annotations

from collections.abc import Collection as AnyCollection
from dataclasses import asdict
from datetime import datetime

from pymongo import IndexModel

from backend.domain.accounts.provisioning.groups import ProvisionedGroup
from backend.domain.accounts.provisioning.people import folded
from backend.domain.accounts.provisioning.search import Condition, ResultPage
from backend.domain.ids import OrgId
from backend.storage.accounts.directory.conditions import to_query
from backend.storage.accounts.directory.people import MADE_ORDER
from backend.storage.driver.mongo import ClientSession, Database, Document, known_fields
from backend.storage.schema.audited import Audited
from backend.storage.schema.collection import Collection, NoRetention, NotArchived, NotPersonal, NotSharded
from backend.storage.schema.ownership import ByField

NAME = "provisioned_groups"
COLLECTION = Collection(
    name=NAME,
    indexes=[
        IndexModel([("org_id", 1), ("display_name_key", 1)], unique=True),
        IndexModel(
            [("org_id", 1), ("external_id", 1)],
            unique=True,
            partialFilterExpression={"external_id": {"$type": "string"}},
        ),
        IndexModel([("org_id", 1), ("member_ids", 1)]),
        IndexModel([("org_id", 1), *MADE_ORDER]),
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


async def find_group(
    database: Database, org_id: OrgId, group_id: str, session: ClientSession | None = None
) -> ProvisionedGroup | None:
    """The organization's group with this id; None if there is none."""
    document = await database[NAME].find_one({"_id": group_id, "org_id": org_id}, session=session)
    return _from_document(document) if document else None


async def groups_of(
    database: Database, org_id: OrgId, person_ids: AnyCollection[str], session: ClientSession | None = None
) -> list[ProvisionedGroup]:
    """The organization's groups with one of these people in them, by name."""
    owned = {"org_id": org_id, "member_ids": {"$in": list(person_ids)}}
    found = database[NAME].find(owned, session=session).sort("display_name_key", 1)
    return [_from_document(document) async for document in found]


async def list_groups(database: Database, org_id: OrgId) -> list[ProvisionedGroup]:
    """All groups of the organization, by name."""
    found = database[NAME].find({"org_id": org_id}).sort("display_name_key", 1)
    return [_from_document(document) async for document in found]


async def search_groups(
    database: Database, org_id: OrgId, condition: Condition, page: ResultPage
) -> tuple[int, list[ProvisionedGroup]]:
    """How many of the organization's groups fit, and those of the page."""
    query = {"org_id": org_id, **to_query(condition)}
    total = await database[NAME].count_documents(query)
    if page.count == 0:
        return total, []
    found = database[NAME].find(query).sort(MADE_ORDER).skip(page.skipped).limit(page.count)
    return total, [_from_document(document) async for document in found]


async def insert_group(database: Database, group: ProvisionedGroup, session: ClientSession) -> None:
    """Store a new group. Raises DuplicateKeyError where a unique index refuses it."""
    await database[NAME].insert_one(_to_document(group), session=session)


async def replace_group(database: Database, group: ProvisionedGroup, session: ClientSession) -> None:
    """Store a group in the place of the one with the same id. Raises DuplicateKeyError likewise."""
    owned = {"_id": group.id, "org_id": group.org_id}
    await database[NAME].replace_one(owned, _to_document(group), session=session)


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
    document = asdict(group)
    document["_id"] = document.pop("id")
    document["member_ids"] = list(group.member_ids)
    return document | {"display_name_key": folded(group.display_name)}


def _from_document(document: Document) -> ProvisionedGroup:
    values = known_fields(document, ProvisionedGroup)
    return ProvisionedGroup(id=document["_id"], **values | {"member_ids": tuple(document["member_ids"])})
