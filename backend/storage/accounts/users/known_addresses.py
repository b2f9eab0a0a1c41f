"""The `known_addresses` collection: from where accounts were signed in to, as keyed hashes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

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

NAME = "known_addresses"
COLLECTION = Collection(
    name=NAME,
    indexes=[EXPIRY_INDEX],
    owned_by=NotOwned("they are users', who may act for several organizations"),
    personal=NotPersonal("hashes, of users of the dashboard"),
    retention=NoRetention("gone within two months"),
    archived=NotArchived("gone within two months"),
    shard_key=NotSharded("small, and gone within two months"),
    audited=NotAudited("the service's own notes for its work"),
)


async def add_known_address(database: Database, hashed: str, expires_at: datetime) -> None:
    """Remember this hash (of an account and an address) until `expires_at`."""
    await database[NAME].update_one({"_id": hashed}, {"$set": {"expires_at": expires_at}}, upsert=True)


async def is_known_address(database: Database, hashes: Sequence[str], now: datetime) -> bool:
    """Whether one of these hashes is remembered. One account and address has one hash for each key."""
    address = await database[NAME].find_one({"_id": {"$in": list(hashes)}, "expires_at": {"$gt": now}})
    return address is not None
