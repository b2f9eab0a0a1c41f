"""Plans an upgrade: what this version will do with the data of an earlier one."""

from __future__ import annotations

from dataclasses import dataclass

from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.inspection import Difference, compare_indexes


@dataclass(frozen=True, slots=True)
class UpgradeStep:
    """What a service does before it answers, and with about how many documents."""

    what: str
    documents: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What a start of this version means for the stored data.

    `obstacles` are sentences; with any, the service would not start.
    """

    steps: tuple[UpgradeStep, ...]
    obstacles: tuple[str, ...]


async def plan_upgrade(database: Database) -> Plan:
    """The plan for the stored data. Changes nothing. Raises StorageError."""
    obstacles, steps = [], []
    async for difference in compare_indexes(database):
        name = f"{difference.collection}.{difference.index}"
        if difference.difference is Difference.CHANGED:
            obstacles.append(f"The index {name} is not as declared: drop it, and it is made anew.")
        elif difference.difference is Difference.MISSING:
            documents = await database[difference.collection].estimated_document_count()
            steps.append(UpgradeStep(f"make the index {name}", documents))
    return Plan(tuple(steps), tuple(obstacles))
