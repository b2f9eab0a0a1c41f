"""The `calls` collection: which deliveries are stored already, by their call_id."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from pymongo import IndexModel

from backend.storage.mongo import Database, Document, Session

NAME = "calls"
INDEXES = [IndexModel("expires_at", expireAfterSeconds=0)]
# The SDK gives up on a call after a week, and a delivery that comes later meets the stored record's own id.
KEPT = timedelta(days=30)


def call_key(org_id: str, call_id: str) -> str:
    """What a call is known by in every collection."""
    return f"{org_id}/{call_id}"


def document(key: str, received_at: datetime) -> Document:
    """The mark of a call that is stored."""
    return {"_id": key, "expires_at": received_at + KEPT}


async def find_known(database: Database, session: Session, keys: Iterable[str], collection: str) -> set[str]:
    """Which of these calls the collection has."""
    cursor = database[collection].find({"_id": {"$in": list(keys)}}, {"_id": 1}, session=session)
    return {found["_id"] async for found in cursor}
