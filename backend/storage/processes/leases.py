"""The `leases` collection: work that only one process does at a time.

A lease ends by itself, so that another process goes on with the work of one that was killed. All times are by
the database's clock, which is the same for all processes. A process that was only suspended may go on after
its lease has ended. What it writes then must be refused by other means, or be harmless.
"""

from __future__ import annotations

import re
from datetime import timedelta

from pymongo import ReturnDocument

from backend.concurrency.cancellation import until_ended
from backend.storage.driver.deadlines import deadline
from backend.storage.driver.mongo import Database, Document, StorageError, is_duplicate, is_unreachable
from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import Collection, NoRetention, NotArchived, NotPersonal, NotSharded
from backend.storage.schema.ownership import NotOwned

_END_SECONDS = 1.0  # that whoever stops waits for the database
NAME = "leases"
COLLECTION = Collection(
    name=NAME,
    indexes=[],
    owned_by=NotOwned("who does what is the installation"),
    personal=NotPersonal("names of work"),
    retention=NoRetention("one small document for each kind of work"),
    archived=NotArchived("who does what is the installation"),
    shard_key=NotSharded("one small document for each kind of work"),
    audited=NotAudited("the service's own notes for its work"),
)
_KEPT_AFTER_END = 3_600_000  # milliseconds


async def take_lease(database: Database, name: str, holder: str, duration: timedelta) -> bool:
    """Take or renew the lease with this name. Returns whether the holder has it now, for `duration`.

    Whoever is cancelled meanwhile ends the lease next, and what is asked here must not come after that.
    """
    return await until_ended(_take(database, name, holder, duration), _END_SECONDS)


async def _take(database: Database, name: str, holder: str, duration: timedelta) -> bool:
    is_free: Document = {
        "$or": [
            {"$eq": ["$holder", {"$literal": holder}]},
            {"$lte": [{"$ifNull": ["$until", "$$NOW"]}, "$$NOW"]},
        ]
    }
    until: Document = {"$add": ["$$NOW", duration // timedelta(milliseconds=1)]}
    is_taken_over = {"$and": [is_free, {"$ne": ["$holder", {"$literal": holder}]}]}
    change = {
        "former": {"$cond": [is_taken_over, "$holder", "$former"]},
        "holder": {"$cond": [is_free, {"$literal": holder}, "$holder"]},
        "until": {"$cond": [is_free, until, "$until"]},
    }
    try:
        lease = await database[NAME].find_one_and_update(
            {"_id": name}, [{"$set": change}], upsert=True, return_document=ReturnDocument.AFTER
        )
    except StorageError as error:
        if is_duplicate(error):  # two made it at once
            return False
        raise
    return bool(lease["holder"] == holder)


async def find_former_holder(database: Database, name: str) -> str | None:
    """The holder before this one, if it did not end the lease but was killed or suspended; else None."""
    lease = await database[NAME].find_one({"_id": name}, {"former": 1})
    former: str | None = (lease or {}).get("former")
    return former


async def live_leases(database: Database, prefix: str) -> set[str]:
    """The names of the leases that begin with this prefix and that somebody has now."""
    lasts = {"$expr": {"$gt": ["$until", "$$NOW"]}}
    leases = database[NAME].find({"_id": {"$regex": f"^{re.escape(prefix)}"}, **lasts}, {"_id": 1})
    return {str(lease["_id"]) async for lease in leases}


async def ended_leases(database: Database, prefix: str) -> list[str]:
    """The names of the leases that begin with this prefix and have run out."""
    ended = {"$expr": {"$lte": ["$until", "$$NOW"]}}
    leases = database[NAME].find({"_id": {"$regex": f"^{re.escape(prefix)}"}, **ended}, {"_id": 1})
    return [str(lease["_id"]) async for lease in leases]


async def drop_lease(database: Database, name: str) -> None:
    """Delete the lease, for kinds of work in which each holder has a lease with a name of its own."""
    await database[NAME].delete_one({"_id": name})


async def forget_leases(database: Database, prefix: str) -> None:
    """Delete the leases that begin with this prefix and ended more than an hour ago.

    For kinds of work in which each holder has a lease with a name of its own.
    """
    ended = {"$expr": {"$lt": ["$until", {"$subtract": ["$$NOW", _KEPT_AFTER_END]}]}}
    await database[NAME].delete_many({"_id": {"$regex": f"^{re.escape(prefix)}"}, **ended})


async def end_lease(database: Database, name: str, holder: str) -> None:
    """End the holder's lease, so that another process can take it at once.

    Where the storage can't be reached, it ends by itself, and whoever stops does not wait for that.
    """
    ended: Document = {"$set": {"holder": None, "until": "$$NOW"}}
    try:
        with deadline(_END_SECONDS):
            await database[NAME].update_one({"_id": name, "holder": holder}, [ended])
    except StorageError as error:
        if not is_unreachable(error):
            raise
