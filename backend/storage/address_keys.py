"""The `address_keys` collection: a random key for each day, which hashes the addresses of that day's clicks.

A key is thrown away a day after its own; from then on nobody can tell an address from its hash, wherever a
copy of the hash may be.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import UTC, datetime

from pymongo import ReturnDocument

from backend.domain.deferred_links import LONGEST_WINDOW
from backend.storage.collection import EXPIRY_INDEX, Collection, NoRetention, NotArchived, NotPersonal
from backend.storage.mongo import Database
from backend.storage.ownership import Nobodys

NAME = "address_keys"
COLLECTION = Collection(
    name=NAME,
    indexes=[EXPIRY_INDEX],
    owned_by=Nobodys("the keys are the installation's"),
    personal=NotPersonal("random bytes"),
    retention=NoRetention("gone within two days"),
    archived=NotArchived("gone within two days"),
)


async def address_key(database: Database, day: str) -> bytes:
    """The key of a day such as 2026-01-31, the same for every process; made where there is none yet."""
    expires_at = datetime.fromisoformat(day).replace(tzinfo=UTC) + 2 * LONGEST_WINDOW
    made = {"key": secrets.token_bytes(32), "expires_at": expires_at}
    found = await database[NAME].find_one_and_update(
        {"_id": day}, {"$setOnInsert": made}, upsert=True, return_document=ReturnDocument.AFTER
    )
    return bytes(found["key"])


async def find_address_keys(database: Database, days: Sequence[str]) -> list[bytes]:
    """The keys of these days, as far as there are any."""
    return [bytes(found["key"]) async for found in database[NAME].find({"_id": {"$in": list(days)}})]
