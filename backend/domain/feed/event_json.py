"""Events as their readers get them (the extensions' "Feed and webhooks")."""

from __future__ import annotations

from typing import Any

from backend.domain.feed.events import Event
from backend.domain.fields.times.json_times import exact_time_json


def event_json(event: Event) -> dict[str, Any]:
    """The event as an object of JSON."""
    return {
        "id": event.id,
        "type": event.type.value,
        "at": exact_time_json(event.at),
        "org_id": event.org_id,
        "data": event.data,
    }
