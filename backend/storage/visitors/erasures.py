"""The `erasures` collection: erasures that are not at their end yet. A running service goes on with them."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, field, replace
from datetime import timedelta
from typing import Any

from pymongo import IndexModel

from backend.domain.audit.entries import AuditTarget
from backend.domain.feed.facts import Fact
from backend.domain.ids import OrgId
from backend.domain.visitors.persons import Subject
from backend.storage.audit.facts import note_facts, recorded_fact
from backend.storage.driver.mongo import ClientSession, Database, Document, in_transaction, server_time
from backend.storage.outbox import entries
from backend.storage.processes.failing_items import forget_failure
from backend.storage.processes.work import Work
from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import Collection, NoRetention, NotArchived, NotPersonal, NotSharded
from backend.storage.schema.ownership import ByIdPrefix
from backend.storage.schema.work_item import WorkItem, items_in_turns

NAME = "erasures"
COLLECTION = Collection(
    name=NAME,
    indexes=[IndexModel("worked_at")],
    owned_by=ByIdPrefix(),
    personal=NotPersonal("it names who is being erased, and is gone when that is done"),
    retention=NoRetention("it is gone when it is done"),
    archived=NotArchived("what an archive has is what was there when it was made"),
    shard_key=NotSharded("few, and gone when they are done"),
    audited=NotAudited("the log has `customer.erased`"),
)
# Another process goes on with an erasure of which nothing was done for so long.
_TAKEOVER_AFTER = timedelta(minutes=1)
_MOST_TAKEN_OVER = 10_000  # erasures that one process begins to go on with


def target_of(org_id: OrgId, subject: Subject) -> AuditTarget:
    """The subject, as the audit log names it: by a hash, which says nothing to whoever does not know the id.

    So the log can answer whether it was somebody, after that person's data is gone.
    """
    return AuditTarget("customer", _hashed(_id_of(org_id, subject)))


def _named(subject: Subject) -> dict[str, str]:
    """What the subject is named by. An app's device is its installation, and named by that."""
    named = {name: value for name, value in asdict(subject).items() if value}
    return {"install_id": named["install_id"]} if "install_id" in named else named


@dataclass(frozen=True, slots=True)
class Erasure:
    """An erasure under way. Where nothing is found, nothing is stored of it."""

    database: Database
    org_id: OrgId
    subject: Subject
    _told: set[str] = field(default_factory=set, init=False)

    async def tell(self, fact: Fact) -> None:
        """Note that a piece is being erased: for whoever goes on with it, in the feed, and in the audit log.

        The log has each erasure once, and the feed each name at least once.
        """
        names = {name for value in fact.values() if isinstance(value, list) for name in map(_name, value)}

        async def work(session: ClientSession) -> None:
            now = await server_time(self.database)
            [(name, value)] = _named(self.subject).items()
            begun = await self.database[NAME].update_one(
                {"_id": self._id},
                {"$set": {"org_id": self.org_id, "subject": {name: value}, "worked_at": now}},
                upsert=True,
                session=session,
            )
            if not names <= self._told:
                until = fact["at"] + entries.REMOVAL_FACTS_KEPT
                await entries.note(self.database, session, {self.org_id: [fact]}, expires_at=until)
            if begun.upserted_id is not None:
                audited = recorded_fact("customer.erased", target_of(self.org_id, self.subject))
                await note_facts(self.database, session, {self.org_id: [audited]})

        await in_transaction(self.database, work)
        self._told.update(names)

    async def end(self) -> None:
        """Note that everything is erased, also where that failed before, and somebody asked for it again."""
        await self.database[NAME].delete_one({"_id": self._id})
        item = WorkItem(_hashed(self._id), self.org_id, lambda: self.subject)
        await forget_failure(self.database, Work.ERASURES, item)

    @property
    def _id(self) -> str:
        return _id_of(self.org_id, self.subject)


def _id_of(org_id: OrgId, subject: Subject) -> str:
    [(name, value)] = _named(subject).items()
    return f"{org_id}/{name}/{value}"


def _hashed(own_id: str) -> str:
    return f"sha256:{hashlib.sha256(own_id.encode()).hexdigest()[:16]}"


def _name(value: Any) -> str:
    """What a fact of an erasure names: an id, or a shared device."""
    return str(value["device_id"] if isinstance(value, dict) else value)


async def erasure_items(database: Database) -> list[WorkItem[tuple[OrgId, Subject]]]:
    """Erasures with which nobody goes on at the moment, in turns of their organizations. Their ids name
    nobody."""
    idle: Document = {"worked_at": {"$lt": await server_time(database) - _TAKEOVER_AFTER}}
    items = await items_in_turns(
        database, NAME, idle, _from_document, since="worked_at", limit=_MOST_TAKEN_OVER
    )
    return [replace(item, id=_hashed(item.id)) for item in items]


def _from_document(document: Document) -> tuple[OrgId, Subject]:
    return OrgId(document["org_id"]), Subject(**document["subject"])
