"""The `destination_rounds` collection: the progress of checks of destinations, and whose turn it is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from pymongo import ReturnDocument

from backend.domain.ids import LinkId, OrgId
from backend.domain.links.links import Link
from backend.storage.driver.mongo import Database, Document, StorageError, is_duplicate
from backend.storage.links import links
from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import (
    EXPIRY_INDEX,
    Collection,
    NoRetention,
    NotArchived,
    NotPersonal,
    NotSharded,
)
from backend.storage.schema.ownership import NotOwned
from backend.storage.schema.work_item import WorkItem, items_of

NAME = "destination_rounds"
COLLECTION = Collection(
    name=NAME,
    indexes=[EXPIRY_INDEX],
    owned_by=NotOwned("who looks is the installation"),
    personal=NotPersonal("positions among links"),
    retention=NoRetention("a small document for each kind of look and organization, gone a year after it"),
    archived=NotArchived("who looks is the installation"),
    shard_key=NotSharded("a small document for each kind of look and organization"),
    audited=NotAudited("the service's own notes for its work"),
)
# Longer than a batch of links takes, unless hundreds of their addresses do not answer.
_TURN_LIFETIME = timedelta(minutes=15)
_KEPT = timedelta(days=366)  # after the last turn: the organization may be gone


@dataclass(frozen=True, slots=True)
class Round:
    """A check of all links. It continues behind the link `after`; None: at the first link."""

    name: str
    begun_at: datetime
    after: LinkId | None
    is_over: bool


async def take_turn(database: Database, name: str, holder: str, now: datetime) -> Round | None:
    """Take the turn in the round with this name, and return it; None if another process has the turn.

    A turn ends by itself after a while, since a process may be killed.
    """
    mine: Document = {"_id": name, "$or": [{"until": {"$lte": now}}, {"holder": holder}]}
    change = {
        "$set": {"holder": holder, "until": now + _TURN_LIFETIME, "expires_at": now + _KEPT},
        "$setOnInsert": {"begun_at": now, "after": None, "is_over": False},
    }
    try:
        document = await database[NAME].find_one_and_update(
            mine, change, upsert=True, return_document=ReturnDocument.AFTER
        )
    except StorageError as error:
        if is_duplicate(error):
            return None
        raise
    return Round(name, document["begun_at"], document["after"], document["is_over"])


async def begin_again(database: Database, name: str, now: datetime) -> None:
    """Begin a new round."""
    change = {"begun_at": now, "after": None, "is_over": False}
    await database[NAME].update_one({"_id": name}, {"$set": change})


async def go_on_behind(database: Database, begun: Round, after: LinkId | None) -> None:
    """Note that all links up to this one were checked; None: all of them.

    A process whose turn has ended changes nothing.
    """
    change: Document = {"is_over": True} if after is None else {"after": after}
    where_it_was = {"_id": begun.name, "begun_at": begun.begun_at, "after": begun.after}
    await database[NAME].update_one(where_it_was, {"$set": change})


async def end_turn(database: Database, name: str, holder: str, now: datetime) -> None:
    """End the turn, so that another process can take it at once.

    The round has no holder then, so a turn that the old holder was about to take does not follow.
    """
    ended = {"$set": {"until": now, "holder": None}}
    await database[NAME].update_one({"_id": name, "holder": holder}, ended)


async def rounds_over(database: Database, prefix: str, begun_after: datetime) -> set[str]:
    """The names with this prefix of the rounds that were begun after this time and are over."""
    begun = {"is_over": True, "begun_at": {"$gt": begun_after}}
    found = database[NAME].find({"_id": {"$regex": f"^{re.escape(prefix)}"}, **begun}, {"_id": 1})
    return {str(document["_id"]) async for document in found}


async def next_links(
    database: Database, org_id: OrgId | None, after: LinkId | None, limit: int
) -> list[WorkItem[Link]]:
    """The next links that visitors can follow, by id: of an organization, or of all (None)."""
    query: Document = {"_id": {"$gt": after or ""}, "is_enabled": True, "hold": None}
    if org_id is not None:
        query["org_id"] = org_id
    return await items_of(database[links.NAME].find(query).sort("_id", 1).limit(limit), links.from_document)
