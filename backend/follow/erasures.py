"""Events of erasures, in targets that erase people too."""

from __future__ import annotations

from backend.domain.feed.events import Event


def without_person(event: Event) -> Event:
    """The event without the ids of the erased person."""
    return Event(event.id, event.type, event.at, event.org_id, {}, event.cursor)
