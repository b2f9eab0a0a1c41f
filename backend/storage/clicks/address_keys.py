"""The `address_keys` collection: random keys for hashing IP addresses, and for what is made of such hashes,
one for each day or month and purpose.

A key is deleted when its hashes are no longer needed; that of splits stays, since no hash of it is
kept. From then on, nobody can find the address for a hash, even in a copy of the data.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from pymongo import ReturnDocument

from backend.domain.apps.deferred_links import LONGEST_WINDOW
from backend.storage.driver.mongo import Database
from backend.storage.schema.collection import (
    EXPIRY_INDEX,
    Collection,
    NoRetention,
    NotArchived,
    NotPersonal,
    NotSharded,
)
from backend.storage.schema.ownership import NotOwned

NAME = "address_keys"
_THREE_MONTHS = timedelta(days=93)
_DAY = timedelta(days=1)
# Clocks of hosts differ, so a key is still asked for shortly after its day.
_AFTER_ITS_DAY = timedelta(hours=1)
# Clicks of a day come late where a host was away for long.
_SUMMED_FOR = timedelta(days=30)
COLLECTION = Collection(
    name=NAME,
    indexes=[EXPIRY_INDEX],
    owned_by=NotOwned("the keys are the installation's"),
    personal=NotPersonal("random bytes"),
    retention=NoRetention("gone within three months, or not of any hash that is kept"),
    archived=NotArchived("gone within three months"),
    shard_key=NotSharded("few and small"),
)


async def address_key(database: Database, day: str) -> bytes:
    """The key of a day such as 2026-01-31, the same in every process. It is created if it does not exist.

    It is deleted one day after its own day.
    """
    begins_at = datetime.fromisoformat(day).replace(tzinfo=UTC)
    return await _key(database, day, begins_at + 2 * LONGEST_WINDOW)


async def visitor_key(database: Database, day: str) -> bytes:
    """The key that tells the visitors of a day such as 2026-01-31 apart; created if needed.

    It is deleted one hour after its own day.
    """
    begins_at = datetime.fromisoformat(day).replace(tzinfo=UTC)
    return await _key(database, f"visitors/{day}", begins_at + _DAY + _AFTER_ITS_DAY)


async def summing_key(database: Database, day: str, now: datetime) -> bytes:
    """The key of the numbers that visitors of a day have once its clicks are added up; created if needed.

    It is deleted a month after it was created: until then, what comes late of the day has the same numbers.
    """
    return await _key(database, f"sums/{day}", now + _SUMMED_FOR)


async def split_key(database: Database) -> bytes:
    """The key that divides visitors among the parts of a split; created if needed, and never deleted.

    What is hashed with it is not stored.
    """
    return await _key(database, "splits")


async def address_key_of_month(database: Database, month: str) -> bytes:
    """The key of a month such as 2026-01, created if needed. It is deleted two months after its own month."""
    begins_at = datetime.fromisoformat(f"{month}-01").replace(tzinfo=UTC)
    return await _key(database, month, begins_at + _THREE_MONTHS)


async def _key(database: Database, name: str, expires_at: datetime | None = None) -> bytes:
    made = {"key": secrets.token_bytes(32)} | ({"expires_at": expires_at} if expires_at else {})
    found = await database[NAME].find_one_and_update(
        {"_id": name}, {"$setOnInsert": made}, upsert=True, return_document=ReturnDocument.AFTER
    )
    return bytes(found["key"])


async def find_address_keys(database: Database, names: Sequence[str]) -> list[bytes]:
    """Those keys of these days or months that exist."""
    return [bytes(found["key"]) async for found in database[NAME].find({"_id": {"$in": list(names)}})]
