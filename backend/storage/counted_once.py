"""The `counted_once` collection: what counts once for ever, such as an organization's transaction ids.

Only hashes are kept, so that they can outlive retention and erasure: a transaction that was erased does not
count again when it is reported again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import datetime

from pymongo import IndexModel

from backend.domain.calls import Call, Kind
from backend.storage.mongo import Database, Document, Session

NAME = "counted_once"
INDEXES = [IndexModel("org_id")]
_FIELDS = {Kind.CONVERSION: "transaction_id", Kind.LEAD: "event_id"}


def once_key(org_id: str, call: Call) -> str | None:
    """What a conversion's transaction_id or a lead's event_id is known by; None where the call has none."""
    own_id = call.fields.get(_FIELDS.get(call.kind, ""))
    if own_id is None:
        return None
    return hashlib.sha256(f"{org_id}/{call.kind}/{own_id}".encode()).hexdigest()


def document(key: str, org_id: str, at: datetime) -> Document:
    """The mark of what was counted."""
    return {"_id": key, "org_id": org_id, "at": at}


async def find_counted(database: Database, session: Session, keys: Iterable[str]) -> set[str]:
    """Which of these were counted before."""
    wanted = list(keys)
    if not wanted:
        return set()
    cursor = database[NAME].find({"_id": {"$in": wanted}}, {"_id": 1}, session=session)
    return {found["_id"] async for found in cursor}
