"""JSON Schemas of the feed's events: one for each type, told apart by `type`."""

from __future__ import annotations

from backend.domain.feed.event_shapes import EVENT_SHAPES
from backend.domain.feed.events import EventType
from backend.domain.fields.rules import Schema
from backend.domain.fields.shapes import schema_of
from backend.rest_api.routes.operation import reference

_TEXT: Schema = {"type": "string"}


def schema_name(type_: EventType) -> str:
    """The name of the schema of events of this type: `LinkCreatedEvent` of `link.created`."""
    return f"{''.join(word.capitalize() for word in type_.value.split('.'))}Event"


def _event(type_: EventType, data: Schema) -> Schema:
    properties: dict[str, Schema] = {
        "id": _TEXT | {"description": "The same whenever the event is read; no other event has it."},
        "type": {"const": type_.value},
        "at": {"type": "string", "format": "date-time", "description": "When it happened."},
        "org_id": {"type": "string", "format": "uuid"},
        "data": data,
    }
    return {"type": "object", "required": list(properties), "properties": properties}


EVENT_SCHEMAS: dict[str, Schema] = {
    **{schema_name(type_): _event(type_, schema_of(shape)) for type_, shape in EVENT_SHAPES.items()},
    "FeedEvent": {
        "oneOf": [reference(schema_name(type_)) for type_ in EventType],
        "discriminator": {
            "propertyName": "type",
            "mapping": {type_.value: reference(schema_name(type_))["$ref"] for type_ in EventType},
        },
        "description": "There will be more types, and more fields: leave out what you don't know.",
    },
    "EventPage": {
        "type": "object",
        "required": ["events", "next_cursor", "has_more"],
        "properties": {
            "events": {"type": "array", "items": reference("FeedEvent")},
            "next_cursor": _TEXT | {"description": "Where to go on, also where there are no events."},
            "has_more": {"type": "boolean", "description": "Whether there is more now."},
        },
    },
}
