"""The `address_keys` collection: random keys for hashing IP addresses and numbers that follow from them,
one key for each purpose and each day or month.

A key is deleted when its hashes are no longer needed. After that nobody can find the address for a hash,
even in a copy of the data. The key of splits stays, since its hashes are not stored.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from pymongo import ReturnDocument

from backend.domain.apps.deferred_links import LONGEST_WINDOW
from backend.storage.driver.mongo import Database
from backend.storage.schema.audited import NotAudited
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
# Clicks of a day may arrive late, where a host was down for long.
_SUMMED_FOR = timedelta(days=30)
COLLECTION = Collection(
    name=NAME,
    indexes=[EXPIRY_INDEX],
    owned_by=NotOwned("the keys are the installation's"),
    personal=NotPersonal("random bytes"),
    retention=NoRetention("gone within three months, or not of any hash that is kept"),
    archived=NotArchived("gone within three months"),
    shard_key=NotSharded("few and small"),
    audited=NotAudited("the service's own notes for its work"),
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
    """The key of visitors' numbers in the summaries of a day's clicks; created if needed.

    It is deleted a month after it was created. Clicks of the day that arrive until then get the same numbers.
    """
    return await _key(database, f"sums/{day}", now + _SUMMED_FOR)


async def split_key(database: Database) -> bytes:
    """The key that divides visitors among the parts of a split; created if needed, and never deleted.

    Hashes by this key are not stored.
    """
    return await _key(database, "splits")


async def address_key_of_month(database: Database, month: str) -> bytes:
    """The key of a month such as 2026-01, created if needed. It is deleted two months after its own month."""
    begins_at = datetime.fromisoformat(f"{month}-01").replace(tzinfo=UTC)
    return await _key(database, month, begins_at + _THREE_MONTHS)


async def _key(database: Database, name: str, expires_at: datetime | None = None) -> bytes:
    new_key = {"key": secrets.token_bytes(32)} | ({"expires_at": expires_at} if expires_at else {})
    document = await database[NAME].find_one_and_update(
        {"_id": name}, {"$setOnInsert": new_key}, upsert=True, return_document=ReturnDocument.AFTER
    )
    return bytes(document["key"])


async def find_address_keys(database: Database, names: Sequence[str]) -> list[bytes]:
    """Those keys of these days or months that exist."""
    return [bytes(document["key"]) async for document in database[NAME].find({"_id": {"$in": list(names)}})]
