"""The `click_logs` collection: how far each process's click log is shipped.

A document also has, in `hashes`, the hash of each organization's last block of the log: the receipt of its
next block names that hash (domain/ledger/receipts).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pymongo import IndexModel

from backend.domain.ids import OrgId
from backend.storage.driver.mongo import ClientSession, Database
from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import Collection, NoRetention, NotArchived, NotPersonal, NotSharded
from backend.storage.schema.ownership import NotOwned

NAME = "click_logs"
_DAY = 24 * 3600
# A log's file is gone within days; its position stays far longer, so that a file restored from a backup
# is not shipped again.
COLLECTION = Collection(
    name=NAME,
    indexes=[IndexModel("updated_at", expireAfterSeconds=400 * _DAY)],
    owned_by=NotOwned("a log is a process's of this installation"),
    personal=NotPersonal("positions in files"),
    retention=NoRetention("positions in files"),
    archived=NotArchived("the logs stay with the installation"),
    shard_key=NotSharded("one small document a process"),
    audited=NotAudited("the service's own notes for its work"),
)


@dataclass(frozen=True, slots=True)
class LogHead:
    """How far a log is shipped, in bytes, and the hash of each organization's last block of it."""

    position: int = 0
    hashes: Mapping[OrgId, str] = field(default_factory=dict)


class AlreadyShipped(Exception):
    """The log was shipped beyond this position before; `head` says how far."""

    def __init__(self, head: LogHead) -> None:
        super().__init__(head.position)
        self.head = head


class LogPutBack(Exception):
    """The database was put back from a backup, and has less of the log than was shipped: up to `head`."""

    def __init__(self, head: LogHead) -> None:
        super().__init__(head.position)
        self.head = head


class Moved(Exception):
    """The log's position in the database is not the expected one, as one server sees it.

    That may not be final: a majority of the servers may never have it.
    """


async def find_head(database: Database, log_id: str) -> LogHead:
    """How far a click log is shipped, as a majority of the database's members have it."""
    document = await database[NAME].find_one({"_id": log_id})
    return LogHead(int(document["position"]), document.get("hashes", {})) if document else LogHead()


async def shipped_positions(database: Database, log_ids: Iterable[str]) -> dict[str, int]:
    """The number of shipped bytes of each of these logs; without logs that the database does not have."""
    cursor = database[NAME].find({"_id": {"$in": list(log_ids)}})
    return {document["_id"]: int(document["position"]) async for document in cursor}


async def advance(database: Database, session: ClientSession, log_id: str, start: int, to: LogHead) -> None:
    """Move a log from position `start` to this head in the caller's transaction.

    The head has the hashes of organizations with blocks in between. Raises Moved if the log is not at
    `start`. For a new log, DuplicateKeyError is raised instead, since its _id is unique.
    """
    changes = {"position": to.position} | {
        f"hashes.{org_id}": last_hash for org_id, last_hash in to.hashes.items()
    }
    result = await database[NAME].update_one(
        {"_id": log_id, "position": start},
        {"$set": changes, "$currentDate": {"updated_at": True}},
        upsert=start == 0,
        session=session,
    )
    if not result.matched_count and result.upserted_id is None:
        raise Moved(log_id)


async def forget_organization(database: Database, org_id: OrgId) -> None:
    """Forget the hashes of the organization's blocks."""
    name = f"hashes.{org_id}"
    await database[NAME].update_many({name: {"$exists": True}}, {"$unset": {name: ""}})
