"""The `failing_items` collection: items of background work that failed when they were tried last.

They say when each is tried again, by MongoDB's clock, so that another process or host goes on with the pauses
and does not begin again. An item that succeeds is deleted here.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from pymongo import IndexModel

from backend.domain.ids import OrgId
from backend.storage.driver.mongo import Database, Document, known_fields
from backend.storage.processes.work import Work
from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import (
    EXPIRY_INDEX,
    Collection,
    NoRetention,
    NotArchived,
    NotPersonal,
    NotSharded,
)
from backend.storage.schema.ownership import ByField
from backend.storage.schema.work_item import WorkItem

NAME = "failing_items"
COLLECTION = Collection(
    name=NAME,
    indexes=[IndexModel([("work", 1), ("item", 1)], unique=True), IndexModel("org_id"), EXPIRY_INDEX],
    owned_by=ByField(),
    personal=NotPersonal("ids of the service's own things, and kinds of errors"),
    retention=NoRetention("gone once the item succeeds, or a day after nobody tries it any more"),
    archived=NotArchived("what is tried again is this installation's work"),
    shard_key=NotSharded("few and small"),
    audited=NotAudited("the service's own notes for its work"),
)
# Until an item that failed is tried again: after the first failure, and at most.
_FIRST_PAUSE, LONGEST_PAUSE = timedelta(seconds=10), timedelta(hours=1)
_MOST_DOUBLINGS = 20
# At random a pause is shorter by up to this part, so that items that failed together are not tried together.
_JITTER = 0.5
# So long after it was to be tried again, an item is taken to be no more.
_KEPT = timedelta(days=1)
_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class FailingItem:
    """An item that fails: of which work, whose (None: the installation's), since when, and how often it was
    tried. `error` says what happened at the last try; `again_at` is the next one."""

    work: Work
    item: str
    org_id: OrgId | None
    since: datetime
    tries: int
    error: str
    again_at: datetime


async def read_waiting(
    database: Database, work: Work, among: Sequence[str] | None = None
) -> Mapping[str, bool]:
    """The failing items of this work, or those of them that are `among` these; each with whether it still
    waits for its next try."""
    items: Document = {"work": work.value} | ({} if among is None else {"item": {"$in": among}})
    found = database[NAME].find(items, {"item": 1, "waits": {"$gt": ["$again_at", "$$NOW"]}})
    return {document["item"]: document["waits"] async for document in found}


async def note_failure(
    database: Database,
    work: Work,
    item: WorkItem[object],
    error: str,
    longest: timedelta = LONGEST_PAUSE,
) -> None:
    """Note that an item failed with this error. The pause until its next try doubles, up to `longest`."""
    failed: Document = {
        "since": {"$ifNull": ["$since", "$$NOW"]},
        "tries": {"$add": [{"$ifNull": ["$tries", 0]}, 1]},
        "error": {"$literal": error},
    }
    doublings = {"$min": [{"$subtract": ["$tries", 1]}, _MOST_DOUBLINGS]}
    doubled = {"$multiply": [_FIRST_PAUSE / _MILLISECOND, {"$pow": [2, doublings]}]}
    share = random.uniform(1 - _JITTER, 1)  # noqa: S311 - jitter
    pause = {"$multiply": [{"$min": [doubled, longest / _MILLISECOND]}, share]}
    await database[NAME].update_one(
        _own(work, item),
        [
            {"$set": failed},
            {"$set": {"again_at": {"$add": ["$$NOW", pause]}}},
            {"$set": {"expires_at": {"$add": ["$again_at", _KEPT / _MILLISECOND]}}},
        ],
        upsert=True,
    )


async def forget_failure(database: Database, work: Work, item: WorkItem[object]) -> None:
    """Note that an item that failed before does not fail any more."""
    await database[NAME].delete_one(_own(work, item))


async def list_failing(
    database: Database, org_id: OrgId | None = None, work: Work | None = None
) -> list[FailingItem]:
    """The failing items, those first that fail longest; of one organization, and of one work, if given."""
    query: Document = {} if org_id is None else {"org_id": org_id}
    if work is not None:
        query["work"] = work.value
    return [_from_document(document) async for document in database[NAME].find(query).sort("since", 1)]


async def count_failing(database: Database) -> dict[Work, int]:
    """How many items of each work fail."""
    counts = database[NAME].aggregate([{"$group": {"_id": "$work", "items": {"$sum": 1}}}])
    found = {count["_id"]: int(count["items"]) async for count in counts}
    return {work: found.get(work.value, 0) for work in Work}


def _own(work: Work, item: WorkItem[object]) -> Document:
    return {"work": work.value, "item": item.id, "org_id": item.org_id}


def _from_document(document: Document) -> FailingItem:
    values = known_fields(document, FailingItem) | {"work": Work(document["work"])}
    return FailingItem(**values)
