"""How a document of a collection shows which organization owns it."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

from backend.domain.ids import LinkId, OrgId
from backend.storage.driver.mongo import Document
from backend.storage.schema.reason import Reason


class NotOwned(Reason):
    """No organization owns the documents, for the reason given."""


class Owned(ABC):
    """Every document itself shows which organization owns it."""

    @abstractmethod
    def condition(self, org_id: OrgId) -> Document:
        """The query for all documents of the organization. It can be read in the order of ids."""

    def scope(self, org_id: OrgId) -> Document:
        """The same query as part of a larger one, for indexes that begin with the organization."""
        return self.condition(org_id)

    @abstractmethod
    def is_owned(self, document: Document, org_id: OrgId) -> bool:
        """Whether a document from the organization's archive may be stored as the organization's own."""

    @abstractmethod
    def owners_of(self, document: Document) -> list[OrgId]:
        """The organizations that own the document."""

    def part_of(self, document: Document, org_id: OrgId) -> Document:
        """The part of a document that belongs to the organization."""
        return document


@dataclass(frozen=True, slots=True)
class ByField(Owned):
    """A field contains the organization's id."""

    field: str = "org_id"

    def condition(self, org_id: OrgId) -> Document:
        """A query by the field."""
        return {self.field: org_id}

    def is_owned(self, document: Document, org_id: OrgId) -> bool:
        """Whether the field contains the organization's id."""
        return bool(document.get(self.field) == org_id)

    def owners_of(self, document: Document) -> list[OrgId]:
        """The one in the field."""
        return [document[self.field]]


@dataclass(frozen=True, slots=True)
class ByIdPrefix(Owned):
    """The document's id starts with the organization's id and a slash.

    `field` also contains the organization's id; None if there is no such field.
    """

    field: str | None = "org_id"

    def condition(self, org_id: OrgId) -> Document:
        """A query by the start of the id."""
        return {"_id": {"$regex": f"^{re.escape(org_id)}/"}}

    def scope(self, org_id: OrgId) -> Document:
        """A query by the field, or else by the start of the id."""
        return {self.field: org_id} if self.field else self.condition(org_id)

    def is_owned(self, document: Document, org_id: OrgId) -> bool:
        """Whether both the id and the field name the organization."""
        return str(document["_id"]).startswith(f"{org_id}/") and (
            self.field is None or document.get(self.field) == org_id
        )

    def owners_of(self, document: Document) -> list[OrgId]:
        """The one at the start of the id."""
        return [OrgId(str(document["_id"]).partition("/")[0])]


@dataclass(frozen=True, slots=True)
class ById(Owned):
    """One document for each organization; its id is the organization's id."""

    def condition(self, org_id: OrgId) -> Document:
        """A query by the id."""
        return {"_id": org_id}

    def is_owned(self, document: Document, org_id: OrgId) -> bool:
        """Whether the id is the organization's id."""
        return bool(document["_id"] == org_id)

    def owners_of(self, document: Document) -> list[OrgId]:
        """The one with the same id."""
        return [OrgId(document["_id"])]


@dataclass(frozen=True, slots=True)
class ByMembership(Owned):
    """A document may belong to several organizations; a field contains the list of their ids.

    `by_organization` is a field with a value for each of them, by its id.
    """

    field: str = "org_ids"
    by_organization: str = ""

    def condition(self, org_id: OrgId) -> Document:
        """A query by an entry of the list."""
        return {self.field: org_id}

    def is_owned(self, document: Document, org_id: OrgId) -> bool:
        """Whether the list names this organization only."""
        values = document.get(self.by_organization, {})
        is_own = isinstance(values, dict) and values.keys() <= {org_id}
        return bool(document.get(self.field) == [org_id]) and is_own

    def owners_of(self, document: Document) -> list[OrgId]:
        """All in the list."""
        return list(document[self.field])

    def part_of(self, document: Document, org_id: OrgId) -> Document:
        """The document without the ids of other organizations, which must not be disclosed."""
        values = document.get(self.by_organization, {})
        own = {self.by_organization: {org_id: values[org_id]}} if org_id in values else {}
        others = {name: value for name, value in document.items() if name != self.by_organization}
        return others | {self.field: [org_id]} | own


@dataclass(frozen=True, slots=True)
class ByLink:
    """A document belongs to a link, and so to the link's organization, which the field `org_id` also names.

    The link's id is in a field, or else at the start of the document's id.
    """

    field: str | None = None

    def condition(self, link_ids: Iterable[LinkId]) -> Document:
        """The query for all documents of these links."""
        if self.field:
            return {self.field: {"$in": list(link_ids)}}
        return {"_id": {"$in": [re.compile(f"^{re.escape(link_id)}/") for link_id in link_ids]}}

    def is_owned(self, document: Document, org_id: OrgId) -> bool:
        """Whether the document names the organization. The caller has to check that the link is its own."""
        return bool(document.get("org_id") == org_id)

    def part_of(self, document: Document, org_id: OrgId) -> Document:
        """The whole document."""
        return document


Ownership = Owned | ByLink | NotOwned
