"""Which documents of a collection are an organization's."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

from backend.storage.mongo import Document
from backend.storage.reason import Reason


class Nobodys(Reason):
    """No organization owns the documents; the reason says why."""


class Owned(ABC):
    """Every document says itself whose it is."""

    @abstractmethod
    def condition(self, org_id: str) -> Document:
        """The condition for all documents of the organization, which may be read in the order of ids."""

    def scope(self, org_id: str) -> Document:
        """The same documents, as a part of a condition that has more; the indexes begin with its field."""
        return self.condition(org_id)

    @abstractmethod
    def is_owned(self, document: Document, org_id: str) -> bool:
        """Whether a document that stands in an archive of the organization may be stored as its own."""

    def part_of(self, document: Document, org_id: str) -> Document:
        """What of a document is the organization's."""
        return document


@dataclass(frozen=True, slots=True)
class ByField(Owned):
    """A field holds the organization's id."""

    field: str = "org_id"

    def condition(self, org_id: str) -> Document:
        """By the field."""
        return {self.field: org_id}

    def is_owned(self, document: Document, org_id: str) -> bool:
        """The field names the organization."""
        return bool(document.get(self.field) == org_id)


@dataclass(frozen=True, slots=True)
class ByIdPrefix(Owned):
    """An id begins with the organization's and a slash; `field` has it too, if indexes begin with that."""

    field: str | None = "org_id"

    def condition(self, org_id: str) -> Document:
        """By the beginning of the id."""
        return {"_id": {"$regex": f"^{re.escape(org_id)}/"}}

    def scope(self, org_id: str) -> Document:
        """By the field, where there is one."""
        return {self.field: org_id} if self.field else self.condition(org_id)

    def is_owned(self, document: Document, org_id: str) -> bool:
        """Both the id and the field name the organization."""
        return str(document["_id"]).startswith(f"{org_id}/") and (
            self.field is None or document.get(self.field) == org_id
        )


@dataclass(frozen=True, slots=True)
class ById(Owned):
    """There is one document an organization, under its id."""

    def condition(self, org_id: str) -> Document:
        """By the id."""
        return {"_id": org_id}

    def is_owned(self, document: Document, org_id: str) -> bool:
        """The id is the organization's."""
        return bool(document["_id"] == org_id)


@dataclass(frozen=True, slots=True)
class ByMembership(Owned):
    """A document may be several organizations'; a field holds a list of their ids."""

    field: str = "org_ids"

    def condition(self, org_id: str) -> Document:
        """By an entry of the list."""
        return {self.field: org_id}

    def is_owned(self, document: Document, org_id: str) -> bool:
        """The list names the organization alone."""
        return bool(document.get(self.field) == [org_id])

    def part_of(self, document: Document, org_id: str) -> Document:
        """The document without the other organizations, which are none of this one's business."""
        return document | {self.field: [org_id]}


@dataclass(frozen=True, slots=True)
class ByLink:
    """A document is its link's, and so of the link's organization, which the field `org_id` names as well.

    The link is named by a field, or where there is none by what the id begins with.
    """

    field: str | None = None

    def condition(self, link_ids: Iterable[str]) -> Document:
        """The condition for all documents of these links."""
        if self.field:
            return {self.field: {"$in": list(link_ids)}}
        return {"_id": {"$in": [re.compile(f"^{re.escape(link_id)}/") for link_id in link_ids]}}

    def is_owned(self, document: Document, org_id: str) -> bool:
        """The document names the organization; whether the link is its own must be looked up."""
        return bool(document.get("org_id") == org_id)

    def part_of(self, document: Document, org_id: str) -> Document:
        """All of the document."""
        return document


Ownership = Owned | ByLink | Nobodys
