"""The `click_summaries` collection: clicks of days whose single clicks have expired (domain/clicks/summary).

A summary is stored in the transaction that deletes the blocks that it was made from
(storage/clicks/expired_days), and never changed. A day may have several.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from bson import Binary
from pymongo import IndexModel

from backend.concurrency.side_threads import LONG_WORK
from backend.domain.clicks.summary import Summary, UnreadableSummary, json_of
from backend.domain.ids import OrgId
from backend.storage.driver.mongo import ClientSession, Database, Document
from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import Collection, NoRetention, NotPersonal, Stage
from backend.storage.schema.ownership import ByIdPrefix

NAME = "click_summaries"
COLLECTION = Collection(
    name=NAME,
    indexes=[
        IndexModel([("org_id", 1), ("day", 1)]),
        IndexModel("is_unreadable", partialFilterExpression={"is_unreadable": True}, name="unreadable"),
    ],
    owned_by=ByIdPrefix(),
    personal=NotPersonal("counts, and numbers that tell visitors of one day apart"),
    retention=NoRetention("it is what is kept for good where single clicks are not"),
    archived=Stage.HISTORY,
    # For the same reason as blocks.
    shard_key={"org_id": 1, "_id": 1},
    audited=NotAudited("it is no change by anybody, but what happened"),
)
_READABLE: Document = {"is_unreadable": {"$ne": True}}
_SUMMARIES_PER_BATCH = 4
_logger = logging.getLogger(__name__)


class StoredSummary(NamedTuple):
    """A summary: its id without the organization's, its day, and its columns as JSON (domain/clicks/summary).

    `day` is counted from 1970, in UTC.
    """

    id: str
    day: int
    clicks: int
    columns: str


def to_document(org_id: OrgId, own_id: str, summary: Summary) -> Document:
    """The document that stores a summary."""
    return {
        "_id": f"{org_id}/{own_id}",
        "org_id": org_id,
        "day": summary.day,
        "clicks": summary.clicks,
        "packed": Binary(summary.packed),
    }


async def load_summaries(
    database: Database, org_id: OrgId, session: ClientSession | None = None
) -> AsyncGenerator[StoredSummary, None]:
    """All summaries of the organization that can be read, days in their order.

    Unreadable summaries are marked, and `waylink doctor` reports them.
    """
    cursor = database[NAME].find(
        {"org_id": org_id} | _READABLE, session=session, batch_size=_SUMMARIES_PER_BATCH
    )
    async for document in cursor.sort("day", 1):
        if summary := await _read(database, document):
            yield summary


async def documents_named(
    database: Database, org_id: OrgId, own_ids: Iterable[str], session: ClientSession | None = None
) -> AsyncGenerator[StoredSummary, None]:
    """The readable summaries with these ids, which are without the organization's id."""
    query = {"org_id": org_id, "_id": {"$in": [f"{org_id}/{own_id}" for own_id in own_ids]}} | _READABLE
    async for document in database[NAME].find(query, session=session, batch_size=_SUMMARIES_PER_BATCH):
        if summary := await _read(database, document):
            yield summary


async def count_unreadable_summaries(database: Database) -> int:
    """How many summaries can't be read, so that their clicks are not counted."""
    return await database[NAME].count_documents({"is_unreadable": True})


async def insert_summaries(
    database: Database, session: ClientSession, org_id: OrgId, summaries: Sequence[tuple[str, Summary]]
) -> None:
    """Store summaries, each with its id without the organization's, in the caller's transaction."""
    documents = [to_document(org_id, own_id, summary) for own_id, summary in summaries]
    await database[NAME].insert_many(documents, session=session)


async def _read(database: Database, document: Document) -> StoredSummary | None:
    """The summary in a document. None if it can't be read; then it is marked, and not deleted."""
    try:
        columns = await LONG_WORK.run(document["org_id"], partial(json_of, document["packed"]))
    except UnreadableSummary as error:
        _logger.error("The summary %s of clicks can't be read: %s", document["_id"], error)
        query = {"_id": document["_id"], "org_id": document["org_id"]}
        await database[NAME].update_one(query, {"$set": {"is_unreadable": True}})
        return None
    return StoredSummary(document["_id"].partition("/")[2], document["day"], document["clicks"], columns)
