"""The `idempotency` collection: requests that were sent with an Idempotency-Key and carried out."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from pymongo.errors import DuplicateKeyError

from backend.domain.ids import OrgId
from backend.domain.links import Link
from backend.storage import links
from backend.storage.collection import EXPIRY_INDEX, Collection, NoRetention, NotPersonal
from backend.storage.mongo import ClientSession, Database, in_transaction, until_confirmed
from backend.storage.ownership import ByIdPrefix

NAME = "idempotency"
COLLECTION = Collection(
    name=NAME,
    indexes=[EXPIRY_INDEX],
    owned_by=ByIdPrefix(field=None),
    personal=NotPersonal("requests of servers, not of visitors"),
    retention=NoRetention("it is kept for a day"),
)
# How long a key is remembered. Clients repeat a request much earlier.
LIFETIME = timedelta(hours=24)


class KeyUsed(ValueError):
    """A request with this key was carried out before."""


@dataclass(frozen=True, slots=True)
class EarlierRequest:
    """The link that was created under a key, and the fingerprint of the request's body."""

    fingerprint: str
    domain: str
    path: str


async def find_earlier_request(database: Database, org_id: OrgId, key: str) -> EarlierRequest | None:
    """The organization's earlier request with this key; None if there is none."""
    found = await database[NAME].find_one({"_id": _id(org_id, key)})
    return EarlierRequest(found["fingerprint"], found["domain"], found["path"]) if found else None


async def insert_link_once(database: Database, link: Link, key: str, fingerprint: str, now: datetime) -> None:
    """Store a new link together with its key, both or neither.

    Raises KeyUsed, or PathTaken if another link has the path.
    """
    record = {
        "_id": _id(link.org_id, key),
        "fingerprint": fingerprint,
        "domain": link.domain,
        "path": link.path,
        "expires_at": now + LIFETIME,
    }

    async def insert_both(session: ClientSession) -> None:
        await database[NAME].insert_one(record, session=session)
        await links.insert_link(database, link, session)

    try:
        await in_transaction(database, insert_both)
    except DuplicateKeyError:
        await until_confirmed(database)
        raise KeyUsed(key) from None


def _id(org_id: OrgId, key: str) -> str:
    return f"{org_id}/{key}"
