"""The `rate_limits` collection: counts for time windows that all processes share.

Windows follow the database's clock, so that a host with a wrong clock neither locks anyone out nor lets
anyone in. Ids contain key ids and keyed hashes of addresses, never an address.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pymongo import IndexModel, ReturnDocument, WriteConcern

from backend.storage.driver.mongo import Database, Document
from backend.storage.driver.unrecorded import unrecorded
from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import Collection, NoRetention, NotArchived, NotPersonal, NotSharded
from backend.storage.schema.ownership import NotOwned

NAME = "rate_limits"
COLLECTION = Collection(
    name=NAME,
    indexes=[IndexModel("ends_at", expireAfterSeconds=0)],
    owned_by=NotOwned("limits are the installation's"),
    personal=NotPersonal("gone within a day"),
    retention=NoRetention("gone within a day"),
    archived=NotArchived("gone within a day"),
    shard_key=NotSharded("gone within a day"),
    audited=NotAudited("the service's own notes for its work"),
)
# Counting does not wait for the journal: a crash may lose some counts.
_UNJOURNALED = WriteConcern(w=1, j=False)
_TRIES_KEPT = 24 * 60 * 60.0  # seconds


@dataclass(frozen=True, slots=True)
class Window:
    """The count in a window so far, and the seconds until the window ends."""

    count: int
    seconds_left: float


async def count_in_window(database: Database, window_id: str, amount: int, seconds: float) -> Window:
    """Add `amount` (which may be negative) and return the window.

    If the window has ended, a new one of this many seconds begins.
    """
    goes_on = {"$gt": ["$ends_at", "$$NOW"]}
    changes = {
        "count": {"$max": [0, {"$add": [{"$cond": [goes_on, "$count", 0]}, amount]}]},
        "ends_at": {"$cond": [goes_on, "$ends_at", _from_now(seconds)]},
        "counted_at": "$$NOW",
    }
    window = await _update(database, window_id, [{"$set": changes}])
    return Window(window["count"], (window["ends_at"] - window["counted_at"]).total_seconds())


async def forget_count(database: Database, counted_id: str) -> None:
    """Delete the count of a window, or the tries counted by `begin_try`."""
    await database[NAME].delete_one({"_id": counted_id})


async def undo_try(database: Database, tries_id: str) -> None:
    """Undo the last try that began, and its pause. While there is a pause, no other has begun behind it."""
    undone = {"count": {"$max": [0, {"$subtract": ["$count", 1]}]}, "ends_pause_at": "$$NOW"}
    collection = unrecorded(database).get_collection(NAME, write_concern=_UNJOURNALED)
    await collection.update_one({"_id": tries_id}, [{"$set": undone}])


async def begin_try(database: Database, tries_id: str, pauses: Sequence[float]) -> float:
    """Begin a try, unless the pause after the last try is not over.

    Returns 0 if the try begins, or else the seconds that are still to wait. `pauses` are the pauses in
    seconds after the first, second, ... try; the last one also holds for all later tries. Tries are forgotten
    a day after the last one.
    """
    paused = {"$gt": ["$ends_pause_at", "$$NOW"]}
    number = {"$cond": [{"$gt": ["$ends_at", "$$NOW"]}, "$count", 0]}
    pause = {"$arrayElemAt": [list(pauses), {"$min": ["$count", len(pauses) - 1]}]}
    look: Document = {"is_paused": paused, "count": number, "counted_at": "$$NOW"}
    begin: Document = {
        "ends_pause_at": {"$add": ["$$NOW", {"$multiply": [pause, 1000]}]},
        "count": {"$add": ["$count", 1]},
        "ends_at": _from_now(_TRIES_KEPT),
    }
    unless_paused = {name: {"$cond": ["$is_paused", f"${name}", value]} for name, value in begin.items()}
    tries = await _update(database, tries_id, [{"$set": look}, {"$set": unless_paused}])
    if not tries["is_paused"]:
        return 0.0
    return float((tries["ends_pause_at"] - tries["counted_at"]).total_seconds())


def _from_now(seconds: float) -> Document:
    return {"$add": ["$$NOW", round(seconds * 1000)]}


async def _update(database: Database, window_id: str, pipeline: Sequence[Document]) -> Document:
    collection = unrecorded(database).get_collection(NAME, write_concern=_UNJOURNALED)
    document: Document = await collection.find_one_and_update(
        {"_id": window_id}, pipeline, upsert=True, return_document=ReturnDocument.AFTER
    )
    return document
