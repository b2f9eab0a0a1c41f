"""The disk on which MongoDB keeps its data."""

from __future__ import annotations

from dataclasses import dataclass

from pymongo.errors import OperationFailure

from backend.storage.driver.mongo import Database

# Bytes: five million clicks that wait in a data folder, or at least forty million in MongoDB.
LITTLE_SPACE = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Disk:
    """The disk on which a server keeps its data, in bytes."""

    total: int
    free: int

    @property
    def is_nearly_full(self) -> bool:
        """Whether what is left should be kept for clicks."""
        return self.free < LITTLE_SPACE


async def read_disk(database: Database) -> Disk | None:
    """The disk of the member that answers.

    None if the server does not say: a cluster's router never does, and no server does for an empty database.
    """
    try:
        statistics = await database.command("dbStats")
    except OperationFailure:
        return None
    if not (total := statistics.get("fsTotalSize")):
        return None
    return Disk(int(total), int(total - statistics["fsUsedSize"]))
