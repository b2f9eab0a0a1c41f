"""What a collection says of itself: its name, its indexes, whose its documents are, whom they are about, and
how long they stay. Indexes, export, restore, erasure, access and retention follow from it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

from pymongo import IndexModel

from backend.storage.mongo import Document
from backend.storage.ownership import Nobodys, Owned, Ownership
from backend.storage.reason import Reason

# MongoDB deletes a document within about a minute of the date in its `expires_at`.
EXPIRY_INDEX = IndexModel("expires_at", expireAfterSeconds=0)
# Stands for what an id has behind the organization's and a slash.
IN_ID = "_id"
_DAY = timedelta(days=1)


class NotPersonal(Reason):
    """No document is about a visitor; the reason says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Personal:
    """Documents are about visitors: the fields that name one, or IN_ID.

    Where a device is named and no customer, the device's users decide whose the document is.
    """

    customer: str | None = None
    device: str | None = None
    email_sha256: str | None = None
    install: str | None = None
    # Copies of touches of the device, which may be of another user's visit than the document.
    touches: tuple[str, ...] = ()
    # What says which documents are one person's is erased after them, so that an erasure can be run again.
    erased_after: int = 0


class NoRetention(Reason):
    """The time for which an organization keeps its visitors' data does not apply; the reason says why."""


@dataclass(frozen=True, slots=True)
class AgesFrom:
    """Documents are deleted so many days after the time in this field as their organization has set.

    `spare` is added where the field is not brought up to date each time.
    """

    field: str
    spare: timedelta = timedelta()

    def expires_at(self, start: datetime, days: int | None) -> datetime | None:
        """When a document with this time in its field is to be deleted; None for never."""
        return None if days is None else start + days * _DAY + self.spare

    def update(self, days: int | None) -> list[Document]:
        """The update that dates stored documents as `expires_at` dates new ones."""
        if days is None:
            return [{"$set": {"expires_at": None}}]
        milliseconds = (days * _DAY + self.spare) // timedelta(milliseconds=1)
        return [{"$set": {"expires_at": {"$add": [f"${self.field}", milliseconds]}}}]


class Stage(Enum):
    """When a collection is restored: first what happened, in the end what makes the organization work."""

    HISTORY = "history"
    SETUP = "setup"


class NotArchived(Reason):
    """The archive of an organization leaves the collection out; the reason says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """A collection. Where something does not apply to it, a reason says why: no question can be left out."""

    name: str
    indexes: Iterable[IndexModel]
    owned_by: Ownership
    personal: Personal | NotPersonal
    retention: AgesFrom | NoRetention
    archived: Stage | NotArchived = Stage.HISTORY

    def __post_init__(self) -> None:
        for statement in (self.personal, self.retention):
            if not isinstance(statement, Reason) and not isinstance(self.owned_by, Owned):
                raise ValueError(f"{self.name} has documents of visitors, so that each must say whose it is.")
        if isinstance(self.owned_by, Nobodys) and isinstance(self.archived, Stage):
            raise ValueError(f"{self.name} is no organization's, so that no archive can hold it.")

    def scope(self, org_id: str) -> Document:
        """The condition for an organization's documents, where each of them says whose it is."""
        assert isinstance(self.owned_by, Owned)
        return self.owned_by.scope(org_id)

    @property
    def all_indexes(self) -> list[IndexModel]:
        """The indexes, with the one by which MongoDB deletes what has aged."""
        return [*self.indexes, *([EXPIRY_INDEX] if isinstance(self.retention, AgesFrom) else [])]
