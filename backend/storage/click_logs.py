"""The `click_logs` collection: how far each process's click log has been moved into the database."""

from __future__ import annotations

from collections.abc import Iterable

from pymongo import IndexModel

from backend.storage.collection import Collection, NoRetention, NotArchived, NotPersonal
from backend.storage.mongo import Database, Session
from backend.storage.ownership import Nobodys

NAME = "click_logs"
_DAY = 24 * 3600
# A log's file is gone within days; its position stays far longer, so that a file restored from a backup
# is not counted again.
COLLECTION = Collection(
    name=NAME,
    indexes=[IndexModel("updated_at", expireAfterSeconds=400 * _DAY)],
    owned_by=Nobodys("a log is a process's of this installation"),
    personal=NotPersonal("positions in files"),
    retention=NoRetention("positions in files"),
    archived=NotArchived("the logs stay with the installation"),
)


class AlreadyShipped(Exception):
    """The log has been moved past the place given; `position` says how far."""

    def __init__(self, position: int) -> None:
        super().__init__(position)
        self.position = position


class Moved(Exception):
    """The log does not stand where it must, as its server sees it now: a majority may never have that."""


async def shipped_position(database: Database, log_id: str) -> int:
    """How many bytes of a click log are in the database, on a majority of its members."""
    found = await database[NAME].find_one({"_id": log_id})
    return int(found["position"]) if found else 0


async def shipped_positions(database: Database, log_ids: Iterable[str]) -> dict[str, int]:
    """How many bytes are in the database of those of these click logs that it knows."""
    found = database[NAME].find({"_id": {"$in": list(log_ids)}})
    return {each["_id"]: int(each["position"]) async for each in found}


async def advance(database: Database, session: Session, log_id: str, start: int, end: int) -> None:
    """Move the log's position from `start`, where it must stand, to `end`; raises Moved.

    A new log raises DuplicateKeyError instead: its _id is unique.
    """
    result = await database[NAME].update_one(
        {"_id": log_id, "position": start},
        {"$set": {"position": end}, "$currentDate": {"updated_at": True}},
        upsert=start == 0,
        session=session,
    )
    if not result.matched_count and result.upserted_id is None:
        raise Moved(log_id)
