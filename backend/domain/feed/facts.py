"""Facts: what an entry of the feed says, as small as it can be.

A fact names what is stored elsewhere; what it was is read there when somebody asks (storage/feed/reading).
Only a link is written into it as it was, since it is changed afterwards. A fact about people has their ids
in fields of these names, so that an erasure finds them: `device_id`, `customer_id`, `install_id`.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from backend.domain.feed.events import EventType
from backend.domain.ids import TagId

# Its `type` is that of the events it stands for, or the name of something that only analytics reads.
Fact: TypeAlias = dict[str, Any]
TAG = "tag"


def clicks_fact(block: str, clicks: int) -> Fact:
    """So many clicks, which are in the block with this id (without the organization's)."""
    return {"type": EventType.CLICK.value, "block": block, "clicks": clicks}


def tag_fact(tag_id: TagId, name: str | None) -> Fact:
    """From now on a tag has this name, on all links that have its id; None if it stands for nothing any more.

    No event: a link has many fields, and an organization's tags are on many links. Analytics groups by names.
    """
    return {"type": TAG, "tag_id": tag_id, "name": name}


def events_of(fact: Fact) -> int:
    """How many events the fact stands for."""
    return int(fact.get("clicks", 1))
