"""The `feed_entries` collection: what happened, noted by whoever stored it, in the same transaction.

An entry `waits` until the sequencer gives it its place among those of its organization
(storage/outbox/sequencer). Only then do readers see it: so nothing can appear behind a reader. `stamp` is
MongoDB's own time of the write, which orders what waits: who wrote later because of the earlier one has a
later stamp, whatever a host's clock says. Stamps of placed entries never fall: one that was committed late
gets that of the entry before it.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum

from bson import Timestamp, encode
from pymongo import IndexModel

from backend.domain.feed.facts import Fact
from backend.domain.ids import OrgId
from backend.storage.driver.blocking import BlockingDatabase, BlockingSession
from backend.storage.driver.mongo import ClientSession, Database, Document
from backend.storage.schema.collection import Collection, NoRetention, NotSharded, Personal, Stage
from backend.storage.schema.ownership import ByIdPrefix

NAME = "feed_entries"
# The fields of facts that name somebody. Those of facts that say whom to erase have other names.
_NAMES = ("customer_id", "device_id", "install_id")
COLLECTION = Collection(
    name=NAME,
    indexes=[
        IndexModel("stamp", partialFilterExpression={"waits": True}, name="waiting"),
        IndexModel(
            [("org_id", 1), ("place", 1)], partialFilterExpression={"place": {"$exists": True}}, unique=True
        ),
        IndexModel(
            [("org_id", 1), ("ages_by", 1), ("stamp", 1)],
            partialFilterExpression={"ages_by": {"$exists": True}},
        ),
        *(
            IndexModel(
                [("org_id", 1), (f"facts.{name}", 1)],
                partialFilterExpression={f"facts.{name}": {"$exists": True}},
            )
            for name in _NAMES
        ),
        # As the index of other collections that expire, but most entries do not.
        IndexModel(
            "expires_at", expireAfterSeconds=0, partialFilterExpression={"expires_at": {"$exists": True}}
        ),
    ],
    owned_by=ByIdPrefix(),
    personal=Personal(tellings="facts", tell_of=_NAMES),
    retention=NoRetention("storage/outbox/aging deletes it some time after what it names has gone"),
    archived=Stage.HISTORY,
    shard_key=NotSharded(
        "one server's clock gives the stamps, whose order is then that of causes and effects"
    ),
)
# For so long the feed says what readers are to take out: whom to erase, and which clicks are added up.
# Whoever passes data on has to pass on that it is to be erased (GDPR, article 19), and a reader may stop for
# a month, or a receiver be out of order; but the ids must not stay for ever either.
TOLD_FOR = timedelta(days=90)
# MongoDB writes the time of the write in place of an empty one.
_NOW = Timestamp(0, 0)
# An entry gets no more facts once it has so many, or so many bytes of links. A document has sixteen million
# bytes at most, and a link may have a hundred thousand.
_MOST_FACTS = 200
_MOST_BYTES = 1_000_000


class AgesBy(StrEnum):
    """The field of an organization that says for how many days what facts name is kept."""

    CLICKS = "click_days"
    VISITORS = "retention_days"


async def note(
    database: Database,
    session: ClientSession,
    facts: Mapping[OrgId, Sequence[Fact]],
    ages_by: AgesBy | None = None,
    expires_at: datetime | None = None,
) -> None:
    """Note these facts in the caller's transaction, in their order.

    They are kept without limit, or as `ages_by` says, or until they expire.
    """
    if documents := _documents(facts, ages_by, expires_at):
        await database[NAME].insert_many(documents, session=session)


def note_blocking(
    database: BlockingDatabase,
    session: BlockingSession,
    facts: Mapping[OrgId, Sequence[Fact]],
    ages_by: AgesBy | None = None,
) -> None:
    """As `note`, by the driver's blocking calls."""
    if documents := _documents(facts, ages_by):
        database[NAME].insert_many(documents, session=session)


def _documents(
    facts: Mapping[OrgId, Sequence[Fact]], ages_by: AgesBy | None, expires_at: datetime | None = None
) -> list[Document]:
    limits: Document = {"ages_by": ages_by.value} if ages_by else {}
    if expires_at:
        limits["expires_at"] = expires_at
    return [
        {
            "_id": f"{org_id}/{uuid.uuid4().hex}",
            "org_id": org_id,
            "stamp": _NOW,
            "waits": True,
            **limits,
            "facts": part,
        }
        for org_id, org_facts in facts.items()
        for part in _parts(org_facts)
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
