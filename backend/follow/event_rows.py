"""Events as rows of one wide table: a column for each known field of any type, and `more` for others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backend.domain.feed.events import Event, EventType
from backend.domain.fields.times.json_times import exact_time_json
from backend.follow.event_fields import FieldKind, fields_of, values_of
from backend.follow.event_lines import as_json

MORE = "more"
# The columns that every row has, in their order.
OWN = ("id", "type", "at", "place", "index")


def field_kinds() -> Mapping[str, FieldKind]:
    """The fields of all types by their columns, each name once."""
    return {field.name: field.kind for type_ in EventType for field in fields_of(type_)}


def row_of(event: Event) -> dict[str, Any]:
    """The event's values by column, without missing ones. All but whole numbers and flags are text."""
    known_values, other_values = values_of(event.type, event.data)
    plain = {
        name: value if isinstance(value, str | bool | int) else as_json(value)
        for name, value in known_values.items()
    }
    return plain | {
        "id": event.id,
        "type": event.type.value,
        "at": exact_time_json(event.at),
        "place": event.cursor.place,
        "index": event.cursor.index,
        MORE: as_json(other_values) if other_values else None,
    }
