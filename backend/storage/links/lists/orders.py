"""The `link_orders` collection: lists of links sorted by clicks, kept for their next pages.

Clicks move links while somebody pages through them; so the order of the first page holds for all of them.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta

from bson import Binary
from pymongo import DESCENDING, IndexModel

from backend.domain.ids import LinkId, OrgId
from backend.storage.driver.mongo import Database
from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import (
    EXPIRY_INDEX,
    Collection,
    NoRetention,
    NotArchived,
    NotPersonal,
    NotSharded,
)
from backend.storage.schema.ownership import ByIdPrefix

NAME = "link_orders"
COLLECTION = Collection(
    name=NAME,
    indexes=[IndexModel([("org_id", 1), ("made_at", DESCENDING)]), EXPIRY_INDEX],
    owned_by=ByIdPrefix(),
    personal=NotPersonal("ids of links"),
    retention=NoRetention("gone within an hour"),
    archived=NotArchived("gone within an hour"),
    shard_key=NotSharded("gone within an hour"),
    audited=NotAudited("the service's own notes for its work"),
)
KEPT = timedelta(hours=1)
# The most orders of an organization. The oldest one is dropped, so that the orders' space on disk is bounded.
MOST_KEPT = 20
_IDS_PER_PIECE = 2_000
_ID_BYTES = 16


class OrderGone(LookupError):
    """The order is too old."""


async def keep_order(database: Database, org_id: OrgId, ids: Sequence[LinkId], now: datetime) -> str:
    """Store the order of these links, and return its name."""
    name = uuid.uuid4().hex
    await _drop_oldest(database, org_id)
    pieces = [ids[start : start + _IDS_PER_PIECE] for start in range(0, len(ids), _IDS_PER_PIECE)]
    await database[NAME].insert_many(
        [
            {
                "_id": f"{org_id}/{name}/{number}",
                "org_id": org_id,
                "order": name,
                "links": len(ids),
                "ids": Binary(b"".join(uuid.UUID(link_id).bytes for link_id in piece)),
                "made_at": now,
                "expires_at": now + KEPT,
            }
            for number, piece in enumerate(pieces)
        ]
    )
    return name


async def read_order(
    database: Database, org_id: OrgId, name: str, start: int, limit: int
) -> tuple[list[LinkId], bool]:
    """The ids from position `start`, at most `limit` of them, and whether there are more.

    Raises OrderGone if the organization has no such order any more.
    """
    first, last = start // _IDS_PER_PIECE, (start + limit) // _IDS_PER_PIECE
    names = [f"{org_id}/{name}/{number}" for number in range(first, last + 1)]
    pieces = {piece["_id"]: piece async for piece in database[NAME].find({"_id": {"$in": names}})}
    # All pieces expire at once, but are deleted one after another.
    if (
        names[0] not in pieces
        or len(pieces) < min(last + 1, -(-pieces[names[0]]["links"] // _IDS_PER_PIECE)) - first
    ):
        raise OrderGone(name)
    packed = b"".join(pieces[name]["ids"] for name in names if name in pieces)
    begin = start - first * _IDS_PER_PIECE
    ids = [
        _unpacked(packed, position) for position in range(begin, min(begin + limit, len(packed) // _ID_BYTES))
    ]
    return ids, len(packed) // _ID_BYTES > begin + limit


def _unpacked(packed: bytes, position: int) -> LinkId:
    return LinkId(str(uuid.UUID(bytes=packed[position * _ID_BYTES : (position + 1) * _ID_BYTES])))


async def _drop_oldest(database: Database, org_id: OrgId) -> None:
    """Drop the oldest orders, so that there is room for one more."""
    newest = await database[NAME].distinct("order", {"org_id": org_id})
    if len(newest) < MOST_KEPT:
        return
    oldest = database[NAME].find({"org_id": org_id}, {"order": 1}).sort("made_at", 1).limit(1)
    async for piece in oldest:
        await database[NAME].delete_many({"org_id": org_id, "order": piece["order"]})
