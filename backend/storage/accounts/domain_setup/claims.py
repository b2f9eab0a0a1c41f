"""The `domain_claims` collection: domains that organizations say are theirs, and have not shown yet.

Any number of organizations may claim one name: a claim gives nothing. Who shows that it is theirs gets the
domain, whose id in the collection `domains` is unique.
"""

from __future__ import annotations

import secrets
from datetime import datetime

from pymongo import IndexModel
from pymongo.errors import DuplicateKeyError

from backend.domain.domains.claims import KEPT, MOST_DOMAINS, DomainClaim
from backend.domain.errors import TooManyItems
from backend.domain.ids import OrgId
from backend.storage.accounts import domains
from backend.storage.accounts.domains import insert_domain
from backend.storage.driver.mongo import Database, Document
from backend.storage.schema.audited import Audited
from backend.storage.schema.collection import (
    EXPIRY_INDEX,
    Collection,
    NoRetention,
    NotArchived,
    NotPersonal,
    NotSharded,
)
from backend.storage.schema.own_documents import existing
from backend.storage.schema.ownership import ByIdPrefix

NAME = "domain_claims"
COLLECTION = Collection(
    name=NAME,
    indexes=[IndexModel("org_id"), EXPIRY_INDEX],
    owned_by=ByIdPrefix(),
    personal=NotPersonal("the organization made it, and its own people delete it"),
    retention=NoRetention("gone a month after somebody looked at it"),
    archived=NotArchived("nothing is its own yet"),
    shard_key=NotSharded("one small document a domain"),
    audited=Audited(
        kind="domain_claim",
        name="domain",
        hidden=frozenset({"token"}),
        ignored=frozenset({"expires_at"}),
    ),
)

# In hexadecimal, which no form for DNS records changes.
_TOKEN_BYTES = 20


async def claim_domain(database: Database, org_id: OrgId, domain: str, now: datetime) -> DomainClaim:
    """The organization's claim of this domain, a new one if it has none. Raises TooManyItems.

    Whether another organization has the domain is not asked: only who shows that it is theirs may know.
    """
    stored = await database[NAME].find_one(_owned(org_id, domain))
    if stored is None:
        await _check_room(database, org_id)
        stored = _new_document(org_id, domain, now)
        try:
            await database[NAME].insert_one(stored)
        except DuplicateKeyError:  # sent twice at one moment
            return await find_claim(database, org_id, domain)
    return _from_document(stored)


async def find_claim(database: Database, org_id: OrgId, domain: str) -> DomainClaim:
    """The organization's claim of this domain. Raises ItemUnknown."""
    return _from_document(existing(await database[NAME].find_one(_owned(org_id, domain))))


async def list_claims(database: Database, org_id: OrgId) -> list[DomainClaim]:
    """The organization's claims, by domain."""
    cursor = database[NAME].find({"org_id": org_id}).sort("_id", 1)
    return [_from_document(document) async for document in cursor]


async def keep_claim(database: Database, claim: DomainClaim, now: datetime) -> None:
    """Keep the claim for another month, if it is still there."""
    change = {"$set": {"expires_at": now + KEPT}}
    await database[NAME].update_one(_owned(claim.org_id, claim.domain), change)


async def settle_claim(database: Database, claim: DomainClaim, now: datetime) -> None:
    """Give the organization the domain that it has shown to be its own. Raises DomainTaken."""
    await insert_domain(database, claim.domain, claim.org_id, now)
    await withdraw_claim(database, claim.org_id, claim.domain)


async def withdraw_claim(database: Database, org_id: OrgId, domain: str) -> bool:
    """Forget the claim. Returns whether there was one."""
    return bool((await database[NAME].delete_one(_owned(org_id, domain))).deleted_count)


async def _check_room(database: Database, org_id: OrgId) -> None:
    """Raise TooManyItems if the organization has all domains that it may have. Two at once may exceed it."""
    counts = [
        await database[name].count_documents({"org_id": org_id}, limit=MOST_DOMAINS)
        for name in (NAME, domains.NAME)
    ]
    if sum(counts) >= MOST_DOMAINS:
        raise TooManyItems("name", MOST_DOMAINS, "domains")


def _new_document(org_id: OrgId, domain: str, now: datetime) -> Document:
    return {
        **_owned(org_id, domain),
        "domain": domain,
        "token": secrets.token_hex(_TOKEN_BYTES),
        "created_at": now,
        "expires_at": now + KEPT,
    }


def _owned(org_id: OrgId, domain: str) -> Document:
    return {"_id": f"{org_id}/{domain}", "org_id": org_id}


def _from_document(document: Document) -> DomainClaim:
    return DomainClaim(document["org_id"], document["domain"], document["token"])
