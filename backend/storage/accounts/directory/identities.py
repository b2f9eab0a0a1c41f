"""The `provider_identities` collection: as whom a provider knows the users of an organization."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime

from pymongo import IndexModel

from backend.domain.accounts.single_sign_on.provided_person import ProvidedPerson
from backend.domain.ids import OrgId, UserId
from backend.storage.driver.mongo import ClientSession, Database
from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import Collection, NoRetention, NotArchived, NotPersonal, NotSharded
from backend.storage.schema.ownership import ByField

NAME = "provider_identities"
COLLECTION = Collection(
    name=NAME,
    indexes=[
        IndexModel([("issuer", 1), ("subject", 1), ("org_id", 1)], unique=True),
        # Of two people of a provider who claim one address, the first one has its account.
        IndexModel([("org_id", 1), ("issuer", 1), ("user_id", 1)], unique=True),
        IndexModel("user_id"),
    ],
    owned_by=ByField(),
    personal=NotPersonal("the organization's own people, not visitors; `waylink user delete` deletes them"),
    retention=NoRetention("an identity stays as long as its user, or the organization's provider"),
    archived=NotArchived("a forged one would name a user of another organization; addresses tell again"),
    shard_key=NotSharded("few, and unique over all"),
    audited=NotAudited("it says by which id of the provider somebody signs in; sessions are recorded"),
)


async def find_identified(
    database: Database, org_id: OrgId, person: ProvidedPerson, session: ClientSession
) -> UserId | None:
    """The user as whom the organization's provider knows this person; None if there is none.

    Whom the same provider told another organization of is that organization's.
    """
    known = {"issuer": person.issuer, "subject": person.subject, "org_id": org_id}
    document = await database[NAME].find_one(known, session=session)
    return UserId(document["user_id"]) if document else None


async def is_identified(
    database: Database, org_id: OrgId, user_id: UserId, issuer: str, session: ClientSession
) -> bool:
    """Whether the organization's provider knows the user already, as whomever."""
    known = {"org_id": org_id, "issuer": issuer, "user_id": user_id}
    return await database[NAME].find_one(known, {"_id": 1}, session=session) is not None


async def add_identity(
    database: Database,
    org_id: OrgId,
    user_id: UserId,
    person: ProvidedPerson,
    *,
    now: datetime,
    session: ClientSession,
) -> None:
    """Note that the organization's provider knows the user as this person."""
    known = {"issuer": person.issuer, "subject": person.subject, "org_id": org_id}
    noted = {"$set": {"user_id": user_id, "created_at": now}, "$setOnInsert": {"_id": str(uuid.uuid4())}}
    await database[NAME].update_one(known, noted, upsert=True, session=session)


async def delete_identities_in(database: Database, org_id: OrgId, session: ClientSession) -> None:
    """Forget all identities in the organization."""
    await database[NAME].delete_many({"org_id": org_id}, session=session)


async def forget_former_users(
    database: Database, user_id: UserId, org_ids: Sequence[OrgId], session: ClientSession
) -> None:
    """Forget a user in all organizations but these, which the user belongs to."""
    former = {"user_id": user_id, "org_id": {"$nin": list(org_ids)}}
    await database[NAME].delete_many(former, session=session)


async def delete_identities_of(
    database: Database, user_ids: Sequence[UserId], session: ClientSession | None = None
) -> None:
    """Forget all identities of these users, who are deleted."""
    await database[NAME].delete_many({"user_id": {"$in": user_ids}}, session=session)
