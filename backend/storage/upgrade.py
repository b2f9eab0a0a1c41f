"""What this version will do with what an earlier one stored, and what of it an earlier one could not see."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

from backend.storage import click_blocks, click_counts
from backend.storage.former_clicks import count_former_clicks
from backend.storage.former_devices import count_former_devices
from backend.storage.inspection import Difference, compare_indexes
from backend.storage.mongo import Database, Document


@dataclass(frozen=True, slots=True)
class UpgradeStep:
    """What is done with stored documents, about how many.

    `holds_up`: a service answers once it is done. Else it goes on beside visitors.
    """

    what: str
    documents: int
    holds_up: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """What a start of this version means for the stored data.

    `obstacles` are sentences; with any, the service would not start. Of the `single_clicks` in blocks,
    `uncounted_clicks` are not in the counts yet.
    """

    steps: tuple[UpgradeStep, ...]
    obstacles: tuple[str, ...]
    single_clicks: int
    uncounted_clicks: int


async def plan_upgrade(database: Database) -> Plan:
    """Look at the stored data. Changes nothing. Raises StorageError."""
    obstacles, steps = [], []
    async for difference in compare_indexes(database):
        name = f"{difference.collection}.{difference.index}"
        if difference.difference is Difference.CHANGED:
            obstacles.append(f"The index {name} is not as declared: drop it, and it is made anew.")
        elif difference.difference is Difference.MISSING:
            documents = await database[difference.collection].estimated_document_count()
            steps.append(UpgradeStep(f"make the index {name}", documents, holds_up=True))
    steps += [step async for step in _moves(database)]
    return Plan(
        tuple(steps),
        tuple(obstacles),
        single_clicks=await _clicks_in_blocks(database, {}),
        uncounted_clicks=await _clicks_in_blocks(database, {"folded": False}),
    )


async def _moves(database: Database) -> AsyncIterator[UpgradeStep]:
    if unnamed := await click_counts.count_unnamed_days(database):
        yield UpgradeStep("write into the counts of days which day they are", unnamed, holds_up=True)
    if former := await count_former_clicks(database):
        yield UpgradeStep("move single clicks into blocks", former, holds_up=False)
    if devices := await count_former_devices(database):
        yield UpgradeStep("complete the touches of devices", devices, holds_up=False)


async def _clicks_in_blocks(database: Database, which: Document) -> int:
    pipeline: list[Document] = [{"$match": which}, {"$group": {"_id": None, "clicks": {"$sum": "$clicks"}}}]
    async for found in database[click_blocks.NAME].aggregate(pipeline):
        return int(found["clicks"])
    return 0
