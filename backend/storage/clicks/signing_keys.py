"""The `signing_keys` collection: random keys by which the service recognizes values that it signed."""

from __future__ import annotations

import secrets

from pymongo import ReturnDocument

from backend.storage.driver.mongo import Database
from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import Collection, NoRetention, NotArchived, NotPersonal, NotSharded
from backend.storage.schema.ownership import NotOwned

NAME = "signing_keys"
COLLECTION = Collection(
    name=NAME,
    indexes=[],
    owned_by=NotOwned("the keys are the installation's"),
    personal=NotPersonal("random bytes"),
    retention=NoRetention("what was signed years ago is still known"),
    archived=NotArchived("what another installation signed is not its own"),
    shard_key=NotSharded("few and small"),
    audited=NotAudited("the service's own notes for its work"),
)


async def signing_key(database: Database, purpose: str) -> bytes:
    """The key for a purpose, the same in every process. It is created if it does not exist.

    An existing key is only read, which needs no member that takes writes.
    """
    if document := await database[NAME].find_one({"_id": purpose}):
        return bytes(document["key"])
    document = await database[NAME].find_one_and_update(
        {"_id": purpose},
        {"$setOnInsert": {"key": secrets.token_bytes(32)}},
        upsert=True,
        return_document=ReturnDocument.AFTER,
    )
    return bytes(document["key"])


async def replace_signing_key(database: Database, purpose: str) -> bytes:
    """Store a new key for a purpose, in the place of an old one. Returns the new key."""
    key = secrets.token_bytes(32)
    await database[NAME].update_one({"_id": purpose}, {"$set": {"key": key}}, upsert=True)
    return key
