"""Facts that the feed is told of links: each holds the link as it was, since links are changed afterwards.

It has everything that is stored of the link but the hash of its password: in the place of that, it says
whether there was one.
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
    """The link was stored, as it is."""
    return _fact(EventType.LINK_CREATED, link, at, [])


def changed_fact(before: Link, after: Link, at: datetime) -> Fact:
    """The link was changed; into an archived one, it was archived."""
    is_archived = after.is_archived and not before.is_archived
    type_ = EventType.LINK_ARCHIVED if is_archived else EventType.LINK_CHANGED
    return _fact(type_, after, at, changed_fields(before, after, at))


def purged_fact(link: Link, at: datetime) -> Fact:
    """The link, as it was last, was deleted for good."""
    return _fact(EventType.LINK_ARCHIVED, link, at, []) | {"purged": True}


def _fact(type_: EventType, link: Link, at: datetime, changed: Sequence[str]) -> Fact:
    stored = links.to_document(link)
    fact: Fact = {"type": type_.value, "at": at, "link": stored, "changed": changed}
    if _HASH in stored["limits"]:
        stored["limits"] = {name: value for name, value in stored["limits"].items() if name != _HASH}
        fact["has_password"] = True
    return fact
