"""The `taken_clicks` collection: how many clicks of a link were taken while it had a limit of them.

One document for each link, which all processes write: a click is taken once a majority of MongoDB's members
has it, and none is ever given back. The link itself is not written, since all caches would read it again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from pymongo import ReturnDocument

from backend.domain.ids import LinkId, OrgId
from backend.storage.driver.mongo import ClientSession, Database, StorageError, is_duplicate
from backend.storage.schema.collection import Collection, NoRetention, NotPersonal, NotSharded, Stage
from backend.storage.schema.ownership import ByLink

NAME = "taken_clicks"
COLLECTION = Collection(
    name=NAME,
    indexes=[],
    owned_by=ByLink(),
    personal=NotPersonal("numbers"),
    retention=NoRetention("a limit of clicks holds as long as the link has it"),
    archived=Stage.HISTORY,
    shard_key=NotSharded("small, and only for links with a limit of clicks"),
)


class Taken(NamedTuple):
    """How many of the wanted clicks were taken, and how many are left now."""

    clicks: int
    left: int


async def take_clicks(database: Database, org_id: OrgId, link_id: LinkId, wanted: int, most: int) -> Taken:
    """Take clicks of a link that lets `most` through: as many as are wanted, or as are left.

    Whoever asks at the same time: all together never get more than `most`. Raises StorageError; then clicks
    may have been taken all the same, and nobody got them.
    """
    try:
        return await _take(database, org_id, link_id, wanted, most)
    except StorageError as error:
        if not is_duplicate(error):
            raise
        # Somebody else made the document in the same moment.
        return await _take(database, org_id, link_id, wanted, most)


async def _take(database: Database, org_id: OrgId, link_id: LinkId, wanted: int, most: int) -> Taken:
    before = {"$ifNull": ["$taken", 0]}
    taken = {"$max": [before, {"$min": [{"$add": [before, wanted]}, most]}]}
    owner = {"org_id": {"$literal": org_id}, "link_id": {"$literal": link_id}}
    found: dict[str, Any] | None = await database[NAME].find_one_and_update(
        {"_id": document_id(link_id)},
        [{"$set": owner | {"taken": taken}}],
        upsert=True,
        return_document=ReturnDocument.BEFORE,
    )
    left = max(0, most - (found["taken"] if found else 0))
    clicks = min(wanted, left)
    return Taken(clicks, left - clicks)


async def count_taken(
    database: Database, link_ids: Iterable[LinkId], session: ClientSession | None = None
) -> dict[LinkId, int]:
    """How many clicks were taken of each of these links; none of one that is not named."""
    ids = [document_id(each) for each in link_ids]
    if not ids:
        return {}
    cursor = database[NAME].find({"_id": {"$in": ids}}, {"link_id": 1, "taken": 1}, session=session)
    return {LinkId(found["link_id"]): found["taken"] async for found in cursor}


def document_id(link_id: LinkId) -> str:
    """The id of the link's document."""
    return f"{link_id}/taken"
