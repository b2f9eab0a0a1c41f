"""The `click_logs` collection: how much of each process's click log is in the database."""

from __future__ import annotations

from collections.abc import Iterable

from pymongo import IndexModel

from backend.storage.collection import Collection, NoRetention, NotArchived, NotPersonal, StaysWhole
from backend.storage.mongo import ClientSession, Database
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
    shard_key=StaysWhole("one small document a process"),
)


class AlreadyShipped(Exception):
    """The log was stored beyond the given position before; `position` says how far."""

    def __init__(self, position: int) -> None:
        super().__init__(position)
        self.position = position


class Moved(Exception):
    """The log's position in the database is not the expected one, as one server sees it.

    That may not be final: a majority of the servers may never have it.
    """


async def shipped_position(database: Database, log_id: str) -> int:
    """The number of bytes of a click log that are in the database, on a majority of its members."""
    found = await database[NAME].find_one({"_id": log_id})
    return int(found["position"]) if found else 0


async def shipped_positions(database: Database, log_ids: Iterable[str]) -> dict[str, int]:
    """The number of bytes in the database for each of these logs that it knows."""
    found = database[NAME].find({"_id": {"$in": list(log_ids)}})
    return {each["_id"]: int(each["position"]) async for each in found}


async def advance(database: Database, session: ClientSession, log_id: str, start: int, end: int) -> None:
    """Move a log's position from `start` to `end` in the caller's transaction.

    Raises Moved if it is not at `start`. For a new log, DuplicateKeyError is raised instead, since its _id is
    unique.
    """
    result = await database[NAME].update_one(
        {"_id": log_id, "position": start},
        {"$set": {"position": end}, "$currentDate": {"updated_at": True}},
        upsert=start == 0,
        session=session,
    )
    if not result.matched_count and result.upserted_id is None:
        raise Moved(log_id)
