"""The `provisioned_people` collection: people whom an organization's identity provider tells."""

from __future__ import annotations

from collections.abc import Collection as AnyCollection
from dataclasses import asdict

from pymongo import IndexModel

from backend.domain.accounts.provisioning.people import (
    MOST_PEOPLE,
    ProvisionedPerson,
    email_key,
    folded,
)
from backend.domain.accounts.roles import Role
from backend.domain.ids import OrgId, UserId
from backend.storage.accounts.directory.entries import ENTRY_INDEXES, MADE_ORDER, DirectoryEntries
from backend.storage.driver.mongo import ClientSession, Database, Document
from backend.storage.schema.audited import Audited
from backend.storage.schema.collection import Collection, NoRetention, NotArchived, NotPersonal, NotSharded
from backend.storage.schema.document_shape import DocumentShape
from backend.storage.schema.own_documents import OwnDocuments
from backend.storage.schema.ownership import ByField

NAME = "provisioned_people"
COLLECTION = Collection(
    name=NAME,
    indexes=[
        IndexModel([("org_id", 1), ("user_name_key", 1)], unique=True),
        IndexModel(
            [("org_id", 1), ("user_id", 1)],
            unique=True,
            partialFilterExpression={"user_id": {"$type": "string"}},
        ),
        IndexModel("user_id"),
        IndexModel([("org_id", 1), ("email", 1)]),
        IndexModel([("org_id", 1), ("emails.key", 1)]),
        IndexModel([("org_id", 1), ("display_name_key", 1)]),
        *ENTRY_INDEXES,
    ],
    owned_by=ByField(),
    personal=NotPersonal("the organization's own people, not visitors; its identity provider deletes them"),
    retention=NoRetention("a person stays until the identity provider deletes them"),
    archived=NotArchived("the provider tells it again, and a forged one could name an account of others"),
    shard_key=NotSharded("few, and small"),
    audited=Audited(
        kind="provisioned_person",
        name="user_name",
        ignored=frozenset({"user_name_key", "display_name_key", "modified_at"}),
    ),
)
_SHAPE = DocumentShape(record=ProvisionedPerson)


async def find_person_of(
    database: Database, org_id: OrgId, user_id: UserId, session: ClientSession | None = None
) -> ProvisionedPerson | None:
    """The organization's active person who is a member with this account; None if there is none."""
    return await _find_one(database, {"org_id": org_id, "user_id": user_id, "is_active": True}, session)


async def find_people(
    database: Database, org_id: OrgId, person_ids: AnyCollection[str], session: ClientSession | None = None
) -> list[ProvisionedPerson]:
    """Those of these people whom the organization has, in the order in which they were made."""
    owned = {"org_id": org_id, "_id": {"$in": list(person_ids)}}
    found = database[NAME].find(owned, session=session).sort(MADE_ORDER)
    return [_SHAPE.from_document(document) async for document in found]


async def list_people(
    database: Database, org_id: OrgId, session: ClientSession | None = None
) -> list[ProvisionedPerson]:
    """All people of the organization, by user name."""
    found = database[NAME].find({"org_id": org_id}, session=session).sort("user_name_key", 1)
    return [_SHAPE.from_document(document) async for document in found]


async def find_told(
    database: Database, org_id: OrgId, user_id: UserId | None, email: str, session: ClientSession
) -> ProvisionedPerson | None:
    """The organization's person, active or not, who is this account; else the one with the address who has
    no account yet. None if the provider told of nobody."""
    owned = {"org_id": org_id}
    known = await _find_one(database, owned | {"user_id": user_id}, session) if user_id else None
    return known or await _find_one(database, owned | {"email": email, "user_id": None}, session)


async def join_person(
    database: Database, org_id: OrgId, email: str, user_id: UserId, session: ClientSession
) -> Role | None:
    """Note that whoever has this address came, with this account, and is a member from now on.

    Returns the role that their groups give; None if those give none, or the provider told nobody with the
    address.
    """
    if await database[NAME].find_one({"org_id": org_id, "user_id": user_id}, {"_id": 1}, session=session):
        return None  # somebody else of the provider has the account
    waiting = {"org_id": org_id, "email": email, "is_active": True, "user_id": None}
    person = await database[NAME].find_one_and_update(
        waiting, {"$set": {"user_id": user_id}}, sort=MADE_ORDER, session=session
    )
    return Role(person["group_role"]) if person and person["group_role"] else None


async def unlink_people_of(
    database: Database, user_ids: AnyCollection[UserId], session: ClientSession | None = None
) -> None:
    """Note that accounts are deleted: whoever had one may come again with another."""
    of_them = {"user_id": {"$in": list(user_ids)}}
    await database[NAME].update_many(of_them, {"$set": {"user_id": None}}, session=session)


async def forget_former_people(
    database: Database, user_id: UserId, org_ids: AnyCollection[OrgId], session: ClientSession
) -> None:
    """Note that an account is nobody's in all organizations but these, which it belongs to."""
    former = {"user_id": user_id, "org_id": {"$nin": list(org_ids)}}
    await database[NAME].update_many(former, {"$set": {"user_id": None}}, session=session)


async def _find_one(
    database: Database, query: Document, session: ClientSession | None
) -> ProvisionedPerson | None:
    document = await database[NAME].find_one(query, session=session)
    return _SHAPE.from_document(document) if document else None


def _to_document(person: ProvisionedPerson) -> Document:
    document = _SHAPE.to_document(person)
    document["emails"] = [asdict(email) | {"key": email_key(email.value)} for email in person.emails]
    return document | {
        "email": person.email,
        "user_name_key": folded(person.user_name),
        "display_name_key": folded(person.display_name or ""),
    }


PEOPLE = DirectoryEntries(
    OwnDocuments(NAME, MOST_PEOPLE, "Users", "users"), _to_document, _SHAPE.from_document
)
