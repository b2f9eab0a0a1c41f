"""Facts: what an entry of the feed says, as small as it can be.

A fact names what is stored elsewhere; what it was is read there when somebody asks (storage/feed/reading).
Only a link is written into it as it was, since it is changed afterwards. A fact about people has their ids
in fields of these names, so that an erasure finds them: `device_id`, `customer_id`, `install_id`.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from backend.domain.feed.events import EventType

# Its `type` is that of the events it stands for, or the name of something that only analytics reads.
Fact: TypeAlias = dict[str, Any]


def clicks_fact(block: str, clicks: int) -> Fact:
    """So many clicks, which are in the block with this id (without the organization's)."""
    return {"type": EventType.CLICK.value, "block": block, "clicks": clicks}


def events_of(fact: Fact) -> int:
    """How many events the fact stands for."""
    return int(fact.get("clicks", 1))
