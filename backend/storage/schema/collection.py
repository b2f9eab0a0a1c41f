"""The declaration of a collection, as one value.

It has the collection's name and indexes, who owns its documents, whether they are personal data, how long
they are kept, and how a cluster distributes them. Indexes, export, restore, erasure, access and retention
follow from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum

from pymongo import IndexModel

from backend.domain.ids import OrgId
from backend.storage.driver.mongo import Document
from backend.storage.schema.audited import Audited, NotAudited
from backend.storage.schema.ownership import NotOwned, Owned, Ownership
from backend.storage.schema.reason import Reason

# MongoDB deletes a document within about a minute of the date in its `expires_at`.
EXPIRY_INDEX = IndexModel("expires_at", expireAfterSeconds=0)
# Stands for the part of a document's id after the organization's id and a slash.
IN_ID = "_id"
_DAY = timedelta(days=1)


class NotPersonal(Reason):
    """No document is about a visitor, for the reason given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Personal:
    """Documents are about visitors. The fields say which one; IN_ID means that it is part of the id.

    If a document names a device but no customer, it belongs to whoever used the device.
    """

    customer: str | None = None
    device: str | None = None
    email_sha256: str | None = None
    install: str | None = None
    # A field with a list of tellings, which may name other persons than the document's owner.
    tellings: str | None = None
    # The fields of tellings that name a person. An erasure only empties them.
    tell_of: tuple[str, ...] = ("customer_id", "device_id")

    @property
    def has_owners(self) -> bool:
        """Whether fields of the document itself name a visitor, and not only its tellings."""
        return any((self.customer, self.device, self.email_sha256, self.install))


class NoRetention(Reason):
    """The organization's retention time does not apply, for the reason given."""


@dataclass(frozen=True, slots=True)
class AgesFrom:
    """A document is deleted when the organization's retention time has passed since the time in this field.

    `spare` is extra time, for a field that is not updated with every change.
    """

    field: str
    spare: timedelta = timedelta()

    def expires_at(self, start: datetime, days: int | None) -> datetime | None:
        """The time at which a document is deleted.

        `start` is the value of its field, `days` the retention time. None if `days` is None: it is kept
        without limit.
        """
        return None if days is None else start + days * _DAY + self.spare

    def update(self, days: int | None) -> list[Document]:
        """A MongoDB update that gives stored documents the date that `expires_at` gives to new ones."""
        return [{"$set": {"expires_at": self.expression(days)}}]

    def expression(self, days: int | None) -> Document | None:
        """The same as `expires_at`, as a MongoDB expression on a stored document."""
        if days is None:
            return None
        milliseconds = (days * _DAY + self.spare) // timedelta(milliseconds=1)
        return {"$add": [f"${self.field}", milliseconds]}


class Stage(Enum):
    """The order of a restore: first records of what happened, last what makes the organization usable."""

    HISTORY = "history"
    SETUP = "setup"


class NotArchived(Reason):
    """An organization's archive leaves the collection out, for the reason given."""


# The fields whose values decide on which shard of a sharded cluster a document is.
ShardKey = Mapping[str, int | str]
HASHED = "hashed"
# For collections whose ids begin with the organization's, or a link's: a request asks for them by ids.
BY_ID: ShardKey = {"_id": 1}


class NotSharded(Reason):
    """A cluster keeps the whole collection on one shard, for the reason given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """A collection. If something does not apply to it, the value of that field is the reason why.

    `withheld` has what an archive that an owner made contains in place of these fields' values: it has
    nobody's credentials, and nothing that would need them.
    """

    name: str
    indexes: Iterable[IndexModel]
    owned_by: Ownership
    personal: Personal | NotPersonal
    retention: AgesFrom | NoRetention
    archived: Stage | NotArchived
    shard_key: ShardKey | NotSharded
    audited: Audited | NotAudited
    withheld: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for statement in (self.personal, self.retention):
            if not isinstance(statement, Reason) and not isinstance(self.owned_by, Owned):
                raise ValueError(f"{self.name} has documents of visitors, so that each must say whose it is.")
        if isinstance(self.owned_by, NotOwned) and isinstance(self.archived, Stage):
            raise ValueError(f"{self.name} is no organization's, so that no archive can hold it.")

    def scope(self, org_id: OrgId) -> Document:
        """The query for an organization's documents. Only for collections that are owned by organizations."""
        assert isinstance(self.owned_by, Owned)
        return self.owned_by.scope(org_id)

    @property
    def all_indexes(self) -> list[IndexModel]:
        """All indexes, including the one by which MongoDB deletes expired documents."""
        return [*self.indexes, *([EXPIRY_INDEX] if isinstance(self.retention, AgesFrom) else [])]
