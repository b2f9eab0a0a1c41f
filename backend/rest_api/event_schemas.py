"""JSON Schemas of the feed's events: one for each type, told apart by `type`."""

from __future__ import annotations

from backend.domain.feed.events import EventType
from backend.domain.feed.shapes import SHAPES
from backend.domain.field_rules import Schema
from backend.rest_api.operation import reference
from backend.rest_api.schemas import SCHEMAS

_ANYTHING: Schema = {"type": "object", "additionalProperties": True}
_TEXT: Schema = {"type": "string"}
# What visitors have made of a link is no change of it.
_COUNTED = {"clicks", "clicks_left"}
_WHOLE = SCHEMAS["WholeLink"]["properties"]
_LINK: Schema = {
    "type": "object",
    "required": [name for name in _WHOLE if name not in _COUNTED],
    "properties": {name: schema for name, schema in _WHOLE.items() if name not in _COUNTED},
    "description": "The link as it was, with the names that its tags have now.",
}
_LINK_DATA: dict[str, Schema] = {
    "link": _LINK,
    "changed": {"type": "array", "items": _TEXT, "description": "The names of the fields that have changed."},
}
_PURGED: Schema = {"type": "boolean", "description": "Whether the link was deleted for good."}
_OF_LINKS: dict[EventType, dict[str, Schema]] = {
    EventType.LINK_CREATED: _LINK_DATA,
    EventType.LINK_CHANGED: _LINK_DATA,
    EventType.LINK_ARCHIVED: _LINK_DATA | {"purged": _PURGED},
}


def schema_name(type_: EventType) -> str:
    """The name of the schema of events of this type: `LinkCreatedEvent` of `link.created`."""
    return f"{''.join(word.capitalize() for word in type_.value.split('.'))}Event"


def _data(type_: EventType) -> Schema:
    """The schema of what such an event says. That of app opens is not decided before they are stored."""
    if properties := _OF_LINKS.get(type_):
        return {"type": "object", "required": list(properties), "properties": properties}
    return SHAPES.get(type_, _ANYTHING)


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
    **{schema_name(type_): _event(type_, _data(type_)) for type_ in EventType},
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
