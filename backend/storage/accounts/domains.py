"""The `domains` collection: the host names of link domains, each owned by one organization."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from pymongo import IndexModel
from pymongo.errors import DuplicateKeyError

from backend.domain.errors import OperatorError
from backend.domain.ids import OrgId
from backend.storage.driver.mongo import ClientSession, Database
from backend.storage.schema.audited import Audited
from backend.storage.schema.collection import Collection, NoRetention, NotPersonal, NotSharded, Stage
from backend.storage.schema.ownership import ByField

NAME = "domains"
COLLECTION = Collection(
    name=NAME,
    indexes=[IndexModel("org_id")],
    owned_by=ByField(),
    personal=NotPersonal("the organization made it, and its own people delete it"),
    retention=NoRetention("the organization made it, and its own people delete it"),
    archived=Stage.SETUP,
    shard_key=NotSharded("one small document a domain"),
    audited=Audited(kind="domain", name="_id", created="added", deleted="removed"),
)


class DomainTaken(OperatorError):
    """The domain belongs to another organization."""

    def __init__(self, domain: str) -> None:
        super().__init__(f"The domain {domain} already belongs to another organization.")


class DomainInUse(OperatorError):
    """The domain has links, whose short URLs would lead nowhere."""

    def __init__(self, domain: str, links: int, archived: int) -> None:
        super().__init__(
            f"The domain {domain} has {links} links, {archived} of them archived. Delete them for good first "
            "(DELETE /links/ID?purge=true): their paths stay theirs as long as they exist."
        )


@dataclass(frozen=True, slots=True)
class DomainOwner:
    """Who may make links on a domain, and whether these pass on what follows their path by default."""

    org_id: OrgId
    forwards_path: bool = False


async def insert_domain(database: Database, domain: str, org_id: OrgId, now: datetime) -> None:
    """Give a domain to an organization. If the organization owns it already, a removal of it is cancelled.

    Raises DomainTaken.
    """
    try:
        await database[NAME].insert_one({"_id": domain, "org_id": org_id, "created_at": now})
    except DuplicateKeyError:
        if not await set_leaving(database, domain, org_id, is_leaving=False):
            raise DomainTaken(domain) from None


async def set_leaving(database: Database, domain: str, org_id: OrgId, *, is_leaving: bool) -> bool:
    """Set whether the domain is being removed, in which case it gets no more links.

    Returns whether the domain is the organization's; otherwise nothing is changed.
    """
    change = {"$set": {"is_leaving": True}} if is_leaving else {"$unset": {"is_leaving": 1}}
    result = await database[NAME].update_one({"_id": domain, "org_id": org_id}, change)
    return bool(result.matched_count)


async def is_domain_of(database: Database, domain: str, org_id: OrgId) -> bool:
    """Whether the organization owns the domain."""
    return await database[NAME].find_one({"_id": domain, "org_id": org_id}, {"_id": 1}) is not None


async def find_owners(
    database: Database, session: ClientSession | None, names: Iterable[str]
) -> dict[str, DomainOwner]:
    """Those of these host names that are link domains, with the organizations that may make links there."""
    settled = {"_id": {"$in": list(names)}, "is_leaving": {"$ne": True}}
    owned = database[NAME].find(settled, {"org_id": 1, "settings.forwards_path": 1}, session=session)
    return {
        domain["_id"]: DomainOwner(domain["org_id"], domain.get("settings", {}).get("forwards_path", False))
        async for domain in owned
    }


async def is_domain(database: Database, domain: str) -> bool:
    """Whether any organization owns the domain."""
    return await database[NAME].find_one({"_id": domain}, {"_id": 1}) is not None


async def list_domains(database: Database, org_id: OrgId) -> list[str]:
    """The organization's domains in alphabetical order."""
    return [document["_id"] async for document in database[NAME].find({"org_id": org_id}).sort("_id", 1)]
