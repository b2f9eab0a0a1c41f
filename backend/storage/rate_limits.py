"""The `rate_limits` collection: how much was counted in windows of time that all processes share.

Windows begin and end by the database's clock, so that a host whose own clock is wrong neither locks anyone
out nor lets anyone in. Ids hold key ids and keyed hashes of addresses, never an address.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pymongo import IndexModel, ReturnDocument, WriteConcern

from backend.storage.collection import Collection, NoRetention, NotArchived, NotPersonal
from backend.storage.mongo import Database, Document
from backend.storage.ownership import Nobodys

NAME = "rate_limits"
COLLECTION = Collection(
    name=NAME,
    indexes=[IndexModel("ends_at", expireAfterSeconds=0)],
    owned_by=Nobodys("limits are the installation's"),
    personal=NotPersonal("gone within minutes"),
    retention=NoRetention("gone within minutes"),
    archived=NotArchived("gone within minutes"),
)
# Counting waits for no journal: what a crash loses of it is forgiven.
_QUICK = WriteConcern(w=1, j=False)


@dataclass(frozen=True, slots=True)
class Window:
    """What was counted so far, and for how many more seconds the window lasts."""

    count: int
    seconds_left: float


async def count_in_window(database: Database, window_id: str, amount: int, seconds: float) -> Window:
    """Add `amount`, which may be negative; a window that has ended begins anew and lasts `seconds`."""
    goes_on = {"$gt": ["$ends_at", "$$NOW"]}
    changes = {
        "count": {"$max": [0, {"$add": [{"$cond": [goes_on, "$count", 0]}, amount]}]},
        "ends_at": {"$cond": [goes_on, "$ends_at", _from_now(seconds)]},
        "counted_at": "$$NOW",
    }
    found = await _update(database, window_id, [{"$set": changes}])
    return Window(found["count"], (found["ends_at"] - found["counted_at"]).total_seconds())


def _from_now(seconds: float) -> Document:
    return {"$add": ["$$NOW", round(seconds * 1000)]}


async def _update(database: Database, window_id: str, pipeline: Sequence[Document]) -> Document:
    collection = database.get_collection(NAME, write_concern=_QUICK)
    found: Document = await collection.find_one_and_update(
        {"_id": window_id}, pipeline, upsert=True, return_document=ReturnDocument.AFTER
    )
    return found
