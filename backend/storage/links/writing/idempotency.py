"""The `idempotency` collection: requests that were sent with a name of their own, and carried out.

A request of the REST API has an Idempotency-Key, a form of the dashboard what its page has given it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from backend.domain.ids import LinkId, OrgId
from backend.domain.links.links import Link
from backend.storage.driver.mongo import ClientSession, Database, Document
from backend.storage.schema.audited import NotAudited
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
    personal=NotPersonal("requests of servers and of members, not of visitors"),
    retention=NoRetention("it is kept for a day"),
    archived=Stage.HISTORY,
    shard_key=NotSharded("gone within a day"),
    audited=NotAudited("the service's own notes for its work"),
)
# How long a key is remembered. Clients repeat a request much earlier.
LIFETIME = timedelta(hours=24)
PIECE_LENGTH = 8_000
# The status of a request that was carried out, and has not been answered yet.
ANSWER_UNKNOWN = 202


class KeyUsed(ValueError):
    """A request with this key was carried out before."""


@dataclass(frozen=True, slots=True)
class EarlierRequest:
    """An earlier request with a key: what it did, and the fingerprint of its body.

    `answer` has the status and the body of the answer. It is None for a create-link request, which has the
    link's domain, path and id instead.
    """

    fingerprint: str
    answer: tuple[int, str] | None
    domain: str = ""
    path: str = ""
    link_id: LinkId = LinkId("")


async def find_earlier_request(database: Database, org_id: OrgId, key: str) -> EarlierRequest | None:
    """The organization's earlier request with this key; None if there is none."""
    record = await database[NAME].find_one({"_id": record_id(org_id, key)})
    if record is None:
        return None
    if "answer" in record:
        return EarlierRequest(record["fingerprint"], (record["status"], "".join(record["answer"])))
    return EarlierRequest(record["fingerprint"], None, record["domain"], record["path"], record["link_id"])


async def find_used(database: Database, session: ClientSession | None, ids: Sequence[str]) -> list[str]:
    """Those of these record ids that are used, in the caller's transaction."""
    return [
        record["_id"]
        async for record in database[NAME].find({"_id": {"$in": ids}}, {"_id": 1}, session=session)
    ]


def link_record(link: Link, fingerprint: str, now: datetime) -> Document:
    """The record of a create-link request, without its id."""
    return {
        "fingerprint": fingerprint,
        "domain": link.domain,
        "path": link.path,
        "link_id": link.id,
        "expires_at": now + LIFETIME,
    }


def answer_record(status: int, answer: str, fingerprint: str, now: datetime) -> Document:
    """The record of a request whose answer is kept, without its id."""
    return {
        "fingerprint": fingerprint,
        "status": status,
        "answer": _pieces(answer),
        "expires_at": now + LIFETIME,
    }


async def note_request(
    database: Database, session: ClientSession, org_id: OrgId, key: str, now: datetime
) -> None:
    """Note in the caller's transaction that this request is carried out by it. Its answer is not known yet.

    Its key is made of all that was sent, so that no other request has it. Raises KeyUsed if it was carried
    out before.
    """
    request_id = record_id(org_id, key)
    if await find_used(database, session, [request_id]):
        raise KeyUsed(request_id)
    record = {"_id": request_id, **answer_record(ANSWER_UNKNOWN, "", key, now)}
    await database[NAME].insert_one(record, session=session)


async def note_answer(database: Database, org_id: OrgId, key: str, status: int, answer: str) -> None:
    """Keep the answer of a request that was noted."""
    await database[NAME].update_one(
        {"_id": record_id(org_id, key)}, {"$set": {"status": status, "answer": _pieces(answer)}}
    )


def record_id(org_id: OrgId, key: str) -> str:
    """The id of the record of an organization's request with this key."""
    return f"{org_id}/{key}"


def _pieces(answer: str) -> list[str]:
    # An archive's check limits the length of texts.
    return [answer[start : start + PIECE_LENGTH] for start in range(0, len(answer), PIECE_LENGTH)]
