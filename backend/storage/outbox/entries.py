"""The `feed_entries` collection, the outbox: whoever stores something adds its facts in the same transaction.

An entry `waits` until the sequencer gives it its place among the entries of its organization
(storage/outbox/sequencer). Readers see it only then, so nothing can appear before a place they have read.
`stamp` is MongoDB's own time of the write, and orders the entries that wait. A write that followed from
another one has a later stamp, whatever a host's clock says. The stamps of placed entries never decrease: an
entry that was committed late gets the stamp of the entry before it.
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
from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import Collection, NoRetention, NotSharded, Personal, Stage
from backend.storage.schema.ownership import ByIdPrefix

NAME = "feed_entries"
# The fields of facts that name a person. Facts that say whom to erase have fields of other names.
_NAMES = ("customer_id", "device_id", "install_id")
AUDIT_ENTRIES: Document = {"ages_by": "audit_days"}
COLLECTION = Collection(
    name=NAME,
    indexes=[
        # With the organization, so that many that can't be placed are passed over without being read.
        IndexModel([("stamp", 1), ("org_id", 1)], partialFilterExpression={"waits": True}, name="waiting"),
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
        # Of the audit log: the pages of it, and what was done to one thing.
        *(
            IndexModel(
                [("org_id", 1), *target, ("place", -1)],
                partialFilterExpression=AUDIT_ENTRIES,
                name=name,
            )
            for name, target in (("audit", ()), ("audit_of_target", (("facts.target.id", 1),)))
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
    audited=NotAudited("it is no change by anybody, but what happened"),
)
# How long the feed keeps facts that say what readers have to remove: whom to erase, and which clicks are
# added up. Whoever passes data on has to pass on that it is to be erased (GDPR, article 19), and a reader may
# stop for a month, or a receiver be out of order. But the ids must not stay for ever either.
REMOVAL_FACTS_KEPT = timedelta(days=90)
# MongoDB writes the time of the write in place of an empty one.
_NOW = Timestamp(0, 0)
# The most facts of an entry, and the bytes of links from which on it gets no more facts. A document has
# sixteen million bytes at most, and a link may have a hundred thousand.
_MOST_FACTS = 200
_MOST_BYTES = 1_000_000


class AgesBy(StrEnum):
    """The field of an organization that says for how many days the documents that facts name are kept."""

    CLICKS = "click_days"
    VISITORS = "retention_days"
    AUDIT = "audit_days"


async def note(
    database: Database,
    session: ClientSession,
    facts: Mapping[OrgId, Sequence[Fact]],
    ages_by: AgesBy | None = None,
    expires_at: datetime | None = None,
) -> None:
    """Add these facts to the outbox in the caller's transaction, in their order.

    They are kept without limit, or for as many days as `ages_by` names, or until `expires_at`.
    """
    if documents := _documents(facts, ages_by, expires_at):
        await database[NAME].insert_many(documents, session=session)


def note_blocking(
    database: BlockingDatabase,
    session: BlockingSession,
    facts: Mapping[OrgId, Sequence[Fact]],
    ages_by: AgesBy | None = None,
) -> None:
    """The same as `note`, by the driver's blocking calls."""
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
            "facts": entry_facts,
        }
        for org_id, org_facts in facts.items()
        for entry_facts in _by_entry(org_facts)
    ]


def _by_entry(facts: Sequence[Fact]) -> Iterator[Sequence[Fact]]:
    """The facts of each entry: as many as fit into one."""
    entry_facts: list[Fact] = []
    bytes_left = _MOST_BYTES
    for fact in facts:
        if len(entry_facts) == _MOST_FACTS or bytes_left <= 0:
            yield entry_facts
            entry_facts, bytes_left = [], _MOST_BYTES
        entry_facts.append(fact)
        if "link" in fact:  # no other has more than a name of something
            bytes_left -= len(encode(fact["link"]))
    if entry_facts:
        yield entry_facts
