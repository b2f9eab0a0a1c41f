"""The `idempotency` collection: requests that were sent with an Idempotency-Key and carried out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from backend.domain.ids import LinkId, OrgId
from backend.domain.links.links import Link
from backend.storage.driver.mongo import ClientSession, Database, Document
from backend.storage.schema.collection import (
    EXPIRY_INDEX,
    Collection,
    NoRetention,
    NotPersonal,
    NotSharded,
    Stage,
)
from backend.storage.schema.ownership import ByIdPrefix

NAME = "idempotency"
COLLECTION = Collection(
    name=NAME,
    indexes=[EXPIRY_INDEX],
    owned_by=ByIdPrefix(field=None),
    personal=NotPersonal("requests of servers, not of visitors"),
    retention=NoRetention("it is kept for a day"),
    archived=Stage.HISTORY,
    shard_key=NotSharded("gone within a day"),
)
# How long a key is remembered. Clients repeat a request much earlier.
LIFETIME = timedelta(hours=24)
PIECE = 8_000


class KeyUsed(ValueError):
    """A request with this key was carried out before."""


@dataclass(frozen=True, slots=True)
class EarlierRequest:
    """What was carried out under a key, and the fingerprint of the request's body.

    `answer` is the body that was answered, with its status. Of a create-link request only the link is kept:
    its domain, path and id.
    """

    fingerprint: str
    answer: tuple[int, str] | None
    domain: str = ""
    path: str = ""
    link_id: LinkId = LinkId("")


async def find_earlier_request(database: Database, org_id: OrgId, key: str) -> EarlierRequest | None:
    """The organization's earlier request with this key; None if there is none."""
    found = await database[NAME].find_one({"_id": record_id(org_id, key)})
    if found is None:
        return None
    if "answer" in found:
        return EarlierRequest(found["fingerprint"], (found["status"], "".join(found["answer"])))
    return EarlierRequest(found["fingerprint"], None, found["domain"], found["path"], found["link_id"])


async def find_used(database: Database, session: ClientSession | None, ids: Sequence[str]) -> list[str]:
    """Those of these record ids that are used, in the caller's transaction."""
    return [
        found["_id"]
        async for found in database[NAME].find({"_id": {"$in": ids}}, {"_id": 1}, session=session)
    ]


def link_record(link: Link, fingerprint: str, now: datetime) -> Document:
    """What is remembered of a create-link request, but for its id."""
    return {
        "fingerprint": fingerprint,
        "domain": link.domain,
        "path": link.path,
        "link_id": link.id,
        "expires_at": now + LIFETIME,
    }


def answer_record(status: int, answer: str, fingerprint: str, now: datetime) -> Document:
    """What is remembered of a request whose answer is kept, but for its id."""
    # In pieces: archives hold no longer texts.
    pieces = [answer[start : start + PIECE] for start in range(0, len(answer), PIECE)]
    return {
        "fingerprint": fingerprint,
        "status": status,
        "answer": pieces,
        "expires_at": now + LIFETIME,
    }


def record_id(org_id: OrgId, key: str) -> str:
    """The id of the record of an organization's request with this key."""
    return f"{org_id}/{key}"
