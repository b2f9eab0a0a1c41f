"""Makes the facts of links for the feed. A fact has the link as it was then, since links change.

A fact has every stored field of the link except the hash of its password, and instead says whether the link
had one.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from backend.domain.feed.changed_fields import changed_fields
from backend.domain.feed.events import EventType
from backend.domain.feed.facts import Fact
from backend.domain.links.links import Link
from backend.storage.links import links

_HASH = "password_hash"


def created_fact(link: Link, at: datetime) -> Fact:
    """The fact that the link was created."""
    return _fact(EventType.LINK_CREATED, link, at, [])


def changed_fact(before: Link, after: Link, at: datetime) -> Fact:
    """The fact that the link was changed, or archived if `after` is archived and `before` is not."""
    is_archived = after.is_archived and not before.is_archived
    type_ = EventType.LINK_ARCHIVED if is_archived else EventType.LINK_CHANGED
    return _fact(type_, after, at, changed_fields(before, after, at))


def purged_fact(link: Link, at: datetime) -> Fact:
    """The fact that the link was deleted for good. `link` is its last state."""
    return _fact(EventType.LINK_ARCHIVED, link, at, []) | {"purged": True}


def _fact(type_: EventType, link: Link, at: datetime, changed: Sequence[str]) -> Fact:
    stored = links.to_document(link)
    fact: Fact = {"type": type_.value, "at": at, "link": stored, "changed": changed}
    if _HASH in stored["limits"]:
        stored["limits"] = {name: value for name, value in stored["limits"].items() if name != _HASH}
        fact["has_password"] = True
    return fact
