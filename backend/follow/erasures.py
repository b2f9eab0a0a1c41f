"""Events that say that somebody was erased, in targets that erase too."""

from __future__ import annotations

from backend.domain.feed.events import Event


def without_person(event: Event) -> Event:
    """The erasure without whom it was of: that it happened."""
    return Event(event.id, event.type, event.at, event.org_id, {}, event.cursor)
