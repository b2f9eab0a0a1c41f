"""The `counted_once` collection: what counts once for ever, such as an organization's transaction ids
and the installations of its apps.

Only hashes are kept, so that they can outlive retention and erasure: what was erased does not count
again when it is reported again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import datetime
from typing import TypeVar

from pymongo import IndexModel

from backend.storage.collection import Collection, NoRetention, NotPersonal
from backend.storage.mongo import Database, Document, Session
from backend.storage.ownership import ByField

NAME = "counted_once"
# An organization, what is counted, and the id under which it counts once (domain/intake, and installs).
OnceKey = tuple[str, str, str]
_KeyT = TypeVar("_KeyT", bound=OnceKey)
COLLECTION = Collection(
    name=NAME,
    indexes=[IndexModel("org_id")],
    owned_by=ByField(),
    personal=NotPersonal("only hashes are kept, which name nobody to whoever does not know the id already"),
    retention=NoRetention("what was forgotten must not count again when it is reported again"),
)


def document(key: OnceKey, at: datetime) -> Document:
    """The mark of what was counted."""
    return {"_id": _hash(key), "org_id": key[0], "at": at}


async def find_counted(
    database: Database, session: Session | None, keys: Iterable[_KeyT]
) -> frozenset[_KeyT]:
    """Which of these were counted before."""
    by_hash = {_hash(key): key for key in keys}
    if not by_hash:
        return frozenset()
    cursor = database[NAME].find({"_id": {"$in": list(by_hash)}}, {"_id": 1}, session=session)
    return frozenset([by_hash[found["_id"]] async for found in cursor])


def _hash(key: OnceKey) -> str:
    return hashlib.sha256("/".join(key).encode()).hexdigest()
