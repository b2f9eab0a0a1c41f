"""The context in which the documents of an archive are checked, and checks that need it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from backend.domain.errors import InvalidField
from backend.domain.ids import OrgId
from backend.storage.accounts import domains
from backend.storage.driver.mongo import Document
from backend.storage.lifecycle.ids_on_disk import IdsOnDisk
from backend.storage.links import links
from backend.storage.links import purged as purged_links
from backend.storage.visitors import counted_once

# How far ahead the clock of the archive's machine may have been.
_CLOCK_TOLERANCE = timedelta(days=1)


@dataclass(slots=True)
class ArchiveContext:
    """The organization of an archive, the time at which its documents are checked, and everything that they
    may refer to."""

    org_id: OrgId
    now: datetime
    link_ids: IdsOnDisk = field(default_factory=IdsOnDisk)
    domains: set[str] = field(default_factory=set)
    marks: IdsOnDisk = field(default_factory=IdsOnDisk)
    # The last place of the feed, which an archive has before the entries.
    last_place: int = 0

    @property
    def latest(self) -> datetime:
        """The latest time that the clock of the archive's machine may have shown."""
        return self.now + _CLOCK_TOLERANCE

    def add(self, name: str, document: Document) -> None:
        """Note what later documents may refer to in this document."""
        if name in {links.NAME, purged_links.NAME}:
            self.link_ids.update([str(document["_id"])])
        elif name == domains.NAME:
            self.domains.add(str(document["_id"]))
        else:
            self.marks.update(counted_once.marks_of(name, document, self.org_id))


# Raises RequestError, ValueError, TypeError, KeyError or AttributeError for a document that is not valid.
DocumentRule = Callable[[Document, ArchiveContext], None]


def own_id(document: Document, *parts: object) -> None:
    """Raise InvalidField unless the document's id is made of these parts."""
    expected = "/".join(map(str, parts))
    if document["_id"] != expected:
        raise InvalidField("_id", "does not belong to what the document is about")


def own_link(link_id: object, context: ArchiveContext) -> None:
    """Raise InvalidField unless the archive has this link."""
    if link_id not in context.link_ids:
        raise InvalidField("link_id", "must be a link of the archive")


def own_domain(name: str, domain: object, context: ArchiveContext) -> None:
    """Raise InvalidField, which names the field, unless the archive has this domain."""
    if domain not in context.domains:
        raise InvalidField(name, "must be a domain of the archive")


def expires_within(kept: timedelta, document: Document, context: ArchiveContext) -> None:
    """Raise InvalidField if the document's `expires_at`, a time, is later than `kept` from now.

    Without one, the document is valid.
    """
    expires_at = document.get("expires_at")
    if expires_at is not None and expires_at > context.latest + kept:
        raise InvalidField("expires_at", f"must be a date at most {kept} from now")
