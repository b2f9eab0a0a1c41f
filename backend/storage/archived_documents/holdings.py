"""The organization of an archive, what its documents may refer to, and the checks that they do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from backend.domain.errors import InvalidField
from backend.domain.ids import LinkId, OrgId
from backend.storage import counted_once, domains, links, purged_links
from backend.storage.mongo import Document


@dataclass(slots=True)
class Holdings:
    """The organization of an archive, and everything that its documents may refer to."""

    org_id: OrgId
    link_ids: set[LinkId] = field(default_factory=set)
    domains: set[str] = field(default_factory=set)
    marks: set[str] = field(default_factory=set)

    def add(self, name: str, document: Document) -> None:
        """Note what later documents may refer to in this document."""
        if name in {links.NAME, purged_links.NAME}:
            self.link_ids.add(LinkId(str(document["_id"])))
        elif name == domains.NAME:
            self.domains.add(str(document["_id"]))
        else:
            self.marks.update(counted_once.marks_of(name, document, self.org_id))


# Raises RequestError, ValueError, TypeError, KeyError or AttributeError for a document that is not valid.
DocumentRule = Callable[[Document, Holdings], None]


def own_id(document: Document, *parts: object) -> None:
    """Raise InvalidField unless the document's id is made of these parts."""
    expected = "/".join(map(str, parts))
    if document["_id"] != expected:
        raise InvalidField("_id", "does not belong to what the document is about")


def own_link(link_id: object, holdings: Holdings) -> None:
    """Raise InvalidField unless the archive has this link."""
    if link_id not in holdings.link_ids:
        raise InvalidField("link_id", "must be a link of the archive")


def own_domain(name: str, domain: object, holdings: Holdings) -> None:
    """Raise InvalidField, which names the field, unless the archive has this domain."""
    if domain not in holdings.domains:
        raise InvalidField(name, "must be a domain of the archive")
