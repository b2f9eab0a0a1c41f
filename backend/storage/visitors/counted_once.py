"""The `counted_once` collection: hashes of ids that must never count twice, such as transaction ids.

Only hashes are stored, so they may be kept after retention and erasure: erased data that is reported again
does not count again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterable
from datetime import datetime
from typing import TypeVar

from pymongo import IndexModel

from backend.domain.ids import OrgId
from backend.storage.driver.blocking import BlockingDatabase, BlockingSession, in_thread
from backend.storage.driver.mongo import Database, Document
from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import HASHED, Collection, NoRetention, NotPersonal, Stage
from backend.storage.schema.ownership import ByField

NAME = "counted_once"
# An organization, a kind of record, and the id that counts once (domain/sales/intake, and installs).
CountedKey = tuple[OrgId, str, str]
_KeyT = TypeVar("_KeyT", bound=CountedKey)
# For each collection: the kind of its documents, and the field with the id that counts once.
_MARKED_BY = {"conversions": ("conversion", "transaction_id"), "leads": ("lead", "event_id")}
COLLECTION = Collection(
    name=NAME,
    indexes=[IndexModel("org_id")],
    owned_by=ByField(),
    personal=NotPersonal("only hashes are kept, which name nobody to whoever does not know the id already"),
    retention=NoRetention("what was forgotten must not count again when it is reported again"),
    archived=Stage.HISTORY,
    shard_key={"_id": HASHED},
    audited=NotAudited("it is no change by anybody, but what happened"),
)


def marks_of(collection: str, document: Document, org_id: OrgId) -> list[str]:
    """The ids of the marks that belong to a document, which need not have been checked."""
    if collection == "installs":
        return [mark((org_id, "install", str(document["_id"]).removeprefix(f"{org_id}/")))]
    kind, field = _MARKED_BY.get(collection, ("", ""))
    refunds = document.get("refunds") if collection == "conversions" else None
    own_ids = [(kind, document.get(field))]
    own_ids += [("refund", refund.get("refund_id")) for refund in refunds or () if isinstance(refund, dict)]
    return [mark((org_id, kind, own_id)) for kind, own_id in own_ids if isinstance(own_id, str)]


def restored(document: Document, provable: Container[str]) -> Document:
    """A mark from an archive, in the form in which it is stored.

    `provable` are marks that follow from records in the archive. Any other mark could be the hash of another
    organization's transaction, so it is stored with the organization's id in front.
    """
    org_id, own_id = document["org_id"], document["_id"]
    return document if own_id in provable or "/" in own_id else document | {"_id": f"{org_id}/{own_id}"}


def find_restored(
    database: BlockingDatabase, session: BlockingSession | None, keys: Iterable[_KeyT]
) -> frozenset[_KeyT]:
    """Those of these keys that were counted before a restore, and are stored under the organization's id.

    No unique index refuses these keys, so they have to be looked up.
    """
    return frozenset(_find(database, session, {_restored_id(key): key for key in keys}))


def document(key: CountedKey, at: datetime, *, of: CountedKey | None = None) -> Document:
    """The document that marks this key as counted. `of` is the key of what it belongs to: a refund's sale."""
    marked = {"_id": mark(key), "org_id": key[0], "at": at}
    return marked | ({"of": mark(of)} if of else {})


async def was_counted(database: Database, key: CountedKey) -> bool:
    """Whether this key was counted before."""
    return bool(await in_thread(database, lambda blocking: find_counted(blocking, None, [key])))


def find_counted(
    database: BlockingDatabase, session: BlockingSession | None, keys: Iterable[_KeyT]
) -> frozenset[_KeyT]:
    """Those of these keys that were counted before."""
    return frozenset(find_marks(database, session, keys))


def find_marks(
    database: BlockingDatabase, session: BlockingSession | None, keys: Iterable[_KeyT]
) -> dict[_KeyT, str | None]:
    """Those of these keys that were counted before, each with the mark of what it belongs to, if to any."""
    distinct_keys = frozenset(keys)
    by_id = {mark(key): key for key in distinct_keys} | {_restored_id(key): key for key in distinct_keys}
    return _find(database, session, by_id)


def _find(
    database: BlockingDatabase, session: BlockingSession | None, by_id: dict[str, _KeyT]
) -> dict[_KeyT, str | None]:
    if not by_id:
        return {}
    cursor = database[NAME].find({"_id": {"$in": list(by_id)}}, {"of": 1}, session=session)
    return {by_id[document["_id"]]: document.get("of") for document in cursor}


def _restored_id(key: CountedKey) -> str:
    return f"{key[0]}/{mark(key)}"


def mark(key: CountedKey) -> str:
    """The id of the mark of this key."""
    return hashlib.sha256("/".join(key).encode()).hexdigest()
