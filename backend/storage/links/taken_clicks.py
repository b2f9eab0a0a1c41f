"""The `taken_clicks` collection: how many clicks of a link's limit were taken.

One document for each link, which all processes write: a click is taken once a majority of MongoDB's members
has it, and none is ever given back. The link itself is not written, since all caches would read it again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from pymongo import IndexModel, ReturnDocument

from backend.domain.ids import LinkId, OrgId
from backend.storage.driver.mongo import ClientSession, Database, StorageError, is_duplicate
from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import Collection, NoRetention, NotPersonal, NotSharded, Stage
from backend.storage.schema.ownership import ByLink

NAME = "taken_clicks"
COLLECTION = Collection(
    name=NAME,
    indexes=[IndexModel("org_id")],
    owned_by=ByLink(),
    personal=NotPersonal("numbers"),
    retention=NoRetention("a limit of clicks holds as long as the link has it"),
    archived=Stage.HISTORY,
    shard_key=NotSharded("small, and only for links with a limit of clicks"),
    audited=NotAudited("it is no change by anybody, but what happened"),
)


class TakenClicks(NamedTuple):
    """How many of the requested clicks were taken, and how many are left now."""

    clicks: int
    remaining: int


async def take_clicks(
    database: Database, org_id: OrgId, link_id: LinkId, requested: int, most: int
) -> TakenClicks:
    """Take clicks of a link that lets `most` through: as many as are requested, or as are left.

    Concurrent callers never take more than `most` together. Raises StorageError; clicks that were taken
    in spite of it are lost.
    """
    try:
        return await _take(database, org_id, link_id, requested, most)
    except StorageError as error:
        if not is_duplicate(error):
            raise
        # Somebody else made the document in the same moment.
        return await _take(database, org_id, link_id, requested, most)


async def _take(database: Database, org_id: OrgId, link_id: LinkId, requested: int, most: int) -> TakenClicks:
    taken_before = {"$ifNull": ["$taken", 0]}
    taken = {"$max": [taken_before, {"$min": [{"$add": [taken_before, requested]}, most]}]}
    owner = {"org_id": {"$literal": org_id}, "link_id": {"$literal": link_id}}
    document: dict[str, Any] | None = await database[NAME].find_one_and_update(
        {"_id": document_id(link_id), "org_id": org_id},
        [{"$set": owner | {"taken": taken}}],
        upsert=True,
        return_document=ReturnDocument.BEFORE,
    )
    remaining = max(0, most - (document["taken"] if document else 0))
    clicks = min(requested, remaining)
    return TakenClicks(clicks, remaining - clicks)


async def count_taken(
    database: Database, link_ids: Iterable[LinkId], session: ClientSession | None = None
) -> dict[LinkId, int]:
    """How many clicks were taken of each of these links. A link that is missing in the result has none."""
    ids = [document_id(link_id) for link_id in link_ids]
    if not ids:
        return {}
    cursor = database[NAME].find({"_id": {"$in": ids}}, {"link_id": 1, "taken": 1}, session=session)
    return {LinkId(document["link_id"]): document["taken"] async for document in cursor}


def document_id(link_id: LinkId) -> str:
    """The id of the link's document."""
    return f"{link_id}/taken"
