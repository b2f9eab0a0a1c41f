"""The `feed_put_backs` collection: which readers of a feed found that MongoDB was put back from a backup."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from backend.domain.ids import OrgId
from backend.storage.driver.mongo import Database, Document
from backend.storage.outbox.marks import FeedPutBack
from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import (
    EXPIRY_INDEX,
    Collection,
    NoRetention,
    NotArchived,
    NotPersonal,
    NotSharded,
)
from backend.storage.schema.ownership import ById

NAME = "feed_put_backs"
COLLECTION = Collection(
    name=NAME,
    indexes=[EXPIRY_INDEX],
    owned_by=ById(),
    personal=NotPersonal("names of the organization's own keys, webhooks and targets"),
    retention=NoRetention("gone a month after the last one"),
    archived=NotArchived("it happened to this installation"),
    shard_key=NotSharded("one document an organization, of bounded size"),
    audited=NotAudited("the service's own notes for its work"),
)
_KEPT = 20
_DURATION = timedelta(days=30)
_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class FoundPutBack:
    """What a reader found, at its last time: it had come to `cursor`, and was to go on from `common`."""

    reader: str
    cursor: str
    common: str
    at: datetime


async def note_put_back(database: Database, org_id: OrgId, reader: str, put_back: FeedPutBack) -> None:
    """Note what this reader found. Only the latest readers of an organization are kept."""
    found: Document = {
        "reader": {"$literal": reader},
        "cursor": str(put_back.cursor),
        "common": str(put_back.common),
        "at": "$$NOW",
    }
    others = {
        "$filter": {
            "input": {"$ifNull": ["$recent", []]},
            "cond": {"$ne": ["$$this.reader", {"$literal": reader}]},
        }
    }
    recent = {"$slice": [{"$concatArrays": [others, [found]]}, -_KEPT]}
    expires_at = {"$add": ["$$NOW", _DURATION / _MILLISECOND]}
    change = [{"$set": {"recent": recent, "expires_at": expires_at}}]
    await database[NAME].update_one({"_id": org_id}, change, upsert=True)


async def list_put_backs(database: Database, org_id: OrgId) -> list[FoundPutBack]:
    """What the organization's readers found lately, the newest first."""
    document = await database[NAME].find_one({"_id": org_id}) or {}
    return [FoundPutBack(**found) for found in reversed(document.get("recent", []))]
