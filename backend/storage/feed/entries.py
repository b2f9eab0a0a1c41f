"""The `feed_entries` collection: what happened, noted by whoever stored it, in the same transaction.

An entry `waits` until the sequencer gives it its place among those of its organization
(storage/feed/sequencer). Only then do readers see it: so nothing can appear behind a reader. `stamp` is
MongoDB's own time of the write, which orders what waits: who wrote later because of the earlier one has a
later stamp, whatever a host's clock says.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence

from bson import Timestamp
from pymongo import IndexModel

from backend.domain.feed.facts import Fact
from backend.domain.ids import OrgId
from backend.storage.blocking import BlockingDatabase, BlockingSession
from backend.storage.collection import Collection, NoRetention, NotPersonal, Stage
from backend.storage.mongo import ClientSession, Database, Document
from backend.storage.ownership import ByIdPrefix

NAME = "feed_entries"
COLLECTION = Collection(
    name=NAME,
    indexes=[
        IndexModel("stamp", partialFilterExpression={"waits": True}, name="waiting"),
        IndexModel([("org_id", 1), ("place", 1)], partialFilterExpression={"place": {"$exists": True}}),
    ],
    owned_by=ByIdPrefix(),
    personal=NotPersonal("it names calls and blocks, which are erased where they are"),
    retention=NoRetention("it names what is stored elsewhere, and says nothing once that is gone"),
    archived=Stage.HISTORY,
    shard_key={"org_id": 1, "_id": 1},
)
# MongoDB writes the time of the write in place of an empty one.
_NOW = Timestamp(0, 0)
# Facts of one entry. A fact with a link may have some ten thousand bytes, and a document sixteen million.
_MOST_FACTS = 200


async def note(database: Database, session: ClientSession, facts: Mapping[OrgId, Sequence[Fact]]) -> None:
    """Note these facts in the caller's transaction, in their order."""
    if documents := _documents(facts):
        await database[NAME].insert_many(documents, session=session)


def note_blocking(
    database: BlockingDatabase, session: BlockingSession, facts: Mapping[OrgId, Sequence[Fact]]
) -> None:
    """Note these facts in the caller's transaction, in their order, by the driver's blocking calls."""
    if documents := _documents(facts):
        database[NAME].insert_many(documents, session=session)


def _documents(facts: Mapping[OrgId, Sequence[Fact]]) -> list[Document]:
    return [
        {"_id": f"{org_id}/{uuid.uuid4().hex}", "org_id": org_id, "stamp": _NOW, "waits": True, "facts": part}
        for org_id, each in facts.items()
        for part in _parts(each)
    ]


def _parts(facts: Sequence[Fact]) -> Iterable[Sequence[Fact]]:
    return (facts[start : start + _MOST_FACTS] for start in range(0, len(facts), _MOST_FACTS))
