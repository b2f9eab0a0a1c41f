"""The fields of events as columns: one list for each type, from the shapes of its data.

A field within an object is called by both names: `touch_link_id` is `link_id` of `touch`. The `id` of what an
event is about is called after its type, since `id` is the event's own: `conversion_id` of a conversion, which
refunds name in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache
from typing import Any

from backend.domain.feed.event_shapes import EVENT_SHAPES
from backend.domain.feed.events import EventType
from backend.domain.fields.rules import Schema
from backend.domain.fields.shapes import AMOUNT, schema_of

# Names of the columns that every event has, which no column of its data has.
OWN_NAMES = frozenset({"id", "type", "at", "org_id", "place", "index", "written_at"})


class FieldKind(Enum):
    """The type of a field's values."""

    TEXT = auto()
    FLAG = auto()
    INTEGER = auto()
    NUMBER = auto()
    TIME = auto()
    OTHER = auto()  # an object without a shape, or a list


@dataclass(frozen=True, slots=True)
class EventField:
    """A field of an event's data: its column, its path in the data, and its type."""

    name: str
    path: tuple[str, ...]
    kind: FieldKind


@cache
def fields_of(type_: EventType) -> tuple[EventField, ...]:
    """The fields of this type's data, in their order."""
    return tuple(_fields(type_, schema_of(EVENT_SHAPES[type_]), ()))


def _fields(type_: EventType, schema: Schema, path: tuple[str, ...]) -> Iterator[EventField]:
    schema = _without_null(schema)
    properties: Mapping[str, Schema] = schema.get("properties", {})
    if not properties and path:
        yield EventField(_name(type_, path), path, _kind(schema))
    for name, property_schema in properties.items():
        yield from _fields(type_, property_schema, (*path, name))


def _without_null(schema: Schema) -> Schema:
    for alternative in schema.get("anyOf", ()):
        if alternative.get("type") != "null":
            return dict(alternative)
    return schema


def _name(type_: EventType, path: tuple[str, ...]) -> str:
    name = ""
    for part in path:
        # `utm_source` of `utm` already begins with the name of its object.
        within, _, last = name.rpartition("_")
        prefix = within if part.startswith(f"{last}_") else name
        name = f"{prefix}_{part}" if prefix else part
    return f"{type_.partition('.')[0]}_{name}" if name in OWN_NAMES else name


def _kind(schema: Schema) -> FieldKind:
    if schema.get("pattern") == AMOUNT["pattern"]:
        return FieldKind.NUMBER
    match schema:
        case {"type": "boolean"}:
            return FieldKind.FLAG
        case {"type": "integer"}:
            return FieldKind.INTEGER
        case {"type": "string", "format": "date-time"}:
            return FieldKind.TIME
        case {"type": "array" | "object"} | {"$ref": _}:
            return FieldKind.OTHER
    return FieldKind.TEXT


def values_of(type_: EventType, data: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The values of known fields by column, and those of other fields by path, both without null."""
    names = {field.path: field.name for field in fields_of(type_)}
    known_values: dict[str, Any] = {}
    other_values: dict[str, Any] = {}
    for path, value in _leaves(data, (), names):
        if path in names:
            known_values[names[path]] = value
        else:
            other_values[".".join(path)] = value
    return known_values, other_values


def _leaves(
    data: Mapping[str, Any], within: tuple[str, ...], names: Mapping[tuple[str, ...], str]
) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, value in data.items():
        path = (*within, name)
        if isinstance(value, dict) and path not in names:
            yield from _leaves(value, path, names)
        elif value is not None:
            yield path, value
