"""Decides which process delivers to an endpoint: one at a time, the endpoint's `holder`.

A process that delivers has a lease (storage/processes/leases) under a name of its own, and each endpoint that
it took names that lease. When the lease has ended, others may take its endpoints: so a process renews one
lease for all of them. Each taking, and each change by the organization, begins a new `term` of the endpoint.
All that a holder writes names the term in which it took the endpoint: a process that was stopped and comes
back writes nothing, and can't set a cursor back.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, replace

from pymongo import ReturnDocument

from backend.domain.feed.cursor import Cursor
from backend.domain.webhooks.endpoint import Endpoint
from backend.storage.driver.mongo import Database, Document
from backend.storage.driver.unrecorded import unrecorded
from backend.storage.schema.document_shape import stored_values
from backend.storage.schema.work_item import WorkItem, items_of
from backend.storage.webhooks.endpoints import NAME, SHAPE

# Endpoints that get events. Others have no holder.
_AWAKE: Document = {"is_enabled": True, "slept_at": None}
# The fields that a holder writes. Only the organization writes the others.
_PROGRESS = (
    "cursor",
    "cursor_at",
    "failing_since",
    "failures",
    "next_try_at",
    "slept_at",
    "last_error",
    "delivered",
    "repeats",
)
assert set(_PROGRESS) < {field.name for field in fields(Endpoint)}


@dataclass(frozen=True, slots=True)
class HeldEndpoint:
    """An endpoint that a process took. Events up to `sent_to` may have been sent to it before."""

    endpoint: Endpoint
    holder: str
    term: int
    sent_to: Cursor

    def moved(self, cursor: Cursor) -> HeldEndpoint:
        """The same endpoint, with its cursor moved to this one."""
        return replace(self, endpoint=replace(self.endpoint, cursor=cursor))


async def count_by_holder(database: Database) -> dict[str | None, int]:
    """How many endpoints that get events each holder has, also those whose lease has ended; None: nobody."""
    stages: list[Document] = [{"$match": _AWAKE}, {"$group": {"_id": "$holder", "endpoints": {"$sum": 1}}}]
    return {count["_id"]: count["endpoints"] async for count in database[NAME].aggregate(stages)}


async def free_endpoints(
    database: Database, live: Collection[str], limit: int, but: Sequence[str] = ()
) -> list[WorkItem[Document]]:
    """At most so many endpoints that have no holder, or one whose lease is not among the `live` ones.

    Without those in `but`. They are for `take_free`.
    """
    free = {**_AWAKE, "holder": {"$nin": list(live)}, "_id": {"$nin": list(but)}}
    found = database[NAME].find(free, {"org_id": 1, "term": 1}).limit(limit)
    return await items_of(found, lambda document: document)


async def store_progress(database: Database, held: HeldEndpoint) -> bool:
    """Store how far the holder has come, in one write. Returns False if the endpoint is not its own any more.

    An endpoint that sleeps loses its holder.
    """
    values = {name: getattr(held.endpoint, name) for name in _PROGRESS} | {"sent_to": held.sent_to}
    if held.endpoint.slept_at:
        values["holder"] = None
    change = {"$set": stored_values(values)}
    return bool((await unrecorded(database)[NAME].update_one(_as_held(held), change)).matched_count)


async def release(database: Database, held: HeldEndpoint) -> None:
    """Let somebody else take the endpoint, at once."""
    await unrecorded(database)[NAME].update_one(_as_held(held), {"$set": {"holder": None}})


def _as_held(held: HeldEndpoint) -> Document:
    """The query for the endpoint, unless somebody else has taken it."""
    endpoint = held.endpoint
    return {"_id": endpoint.id, "org_id": endpoint.org_id, "holder": held.holder, "term": held.term}


async def take_free(database: Database, holder: str, free: Document) -> HeldEndpoint | None:
    """Take one of the `free_endpoints`; None if another process was quicker, or it is gone.

    Raises whatever error is found in its document.
    """
    document = await unrecorded(database)[NAME].find_one_and_update(
        {"_id": free["_id"], "org_id": free["org_id"], "term": free["term"], **_AWAKE},
        {"$set": {"holder": holder}, "$inc": {"term": 1}},
        return_document=ReturnDocument.AFTER,
    )
    if document is None:
        return None
    try:
        return HeldEndpoint(
            SHAPE.from_document(document), holder, document["term"], Cursor.parse(document["sent_to"])
        )
    except Exception:  # it is free again, or nobody would try it once it is mended
        taken = {"_id": document["_id"], "org_id": document["org_id"], "holder": holder}
        await unrecorded(database)[NAME].update_one(taken, {"$set": {"holder": None}})
        raise
