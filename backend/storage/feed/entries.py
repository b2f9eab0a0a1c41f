"""The `feed_entries` collection: what happened, noted by whoever stored it, in the same transaction.

An entry `waits` until the sequencer gives it its place among those of its organization
(storage/feed/sequencer). Only then do readers see it: so nothing can appear behind a reader. `stamp` is
MongoDB's own time of the write, which orders what waits: who wrote later because of the earlier one has a
later stamp, whatever a host's clock says.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence

from bson import Timestamp, encode
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
# An entry gets no more facts once it has so many, or so many bytes of links. A document has sixteen million
# bytes at most, and a link may have a hundred thousand.
_MOST_FACTS = 200
_MOST_BYTES = 1_000_000


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


def _parts(facts: Sequence[Fact]) -> Iterator[Sequence[Fact]]:
    """The facts in parts for an entry each."""
    part: list[Fact] = []
    bytes_left = _MOST_BYTES
    for fact in facts:
        if len(part) == _MOST_FACTS or bytes_left <= 0:
            yield part
            part, bytes_left = [], _MOST_BYTES
        part.append(fact)
        if "link" in fact:  # no other has more than a name of something
            bytes_left -= len(encode(fact["link"]))
    if part:
        yield part
