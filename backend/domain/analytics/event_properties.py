"""Properties of events as fields of queries: `event.` and the name of a property that is marked.

Sites tell what they like as the metadata of an event. Questions may name the properties that the organization
has marked (docs/decisions/event-properties.md).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from backend.domain.errors import InvalidField
from backend.domain.fields.rules import Schema, parse_string

BEGIN = "event."
MOST_MARKED = 10
# Rows by properties have so many values, the most frequent ones. What has another one is in one row.
MOST_VALUES = 500
_LONGEST_NAME = 64
_UNUSABLE = frozenset(',"\\')
_RULE = (
    f"must have from 1 to {_LONGEST_NAME} characters, not begin with $, and have no comma, quotation mark, "
    "backslash, control character, or blank at an end"
)


class EventProperty(str):
    """A property of events as a field: its text is `event.` and the property's name."""

    __slots__ = ()

    @property
    def value(self) -> str:
        """The field's text, as members of `Field` have it."""
        return str(self)

    @property
    def property_name(self) -> str:
        """The name of the property, as the metadata of events has it."""
        return self.removeprefix(BEGIN)


class PropertyName:
    """The name of a property of events: of a member of the metadata's outermost object."""

    def parse(self, field: str, value: object) -> str:
        """The name. Raises InvalidField."""
        name = parse_string(field, value)
        if not (1 <= len(name) <= _LONGEST_NAME) or name != name.strip() or name.startswith("$"):
            raise InvalidField(field, _RULE)
        if not name.isprintable() or not _UNUSABLE.isdisjoint(name):
            raise InvalidField(field, _RULE)
        return name

    def schema(self) -> Schema:
        """JSON Schema of the name."""
        pattern = r'^[^$,"\\\s]([^,"\\]*[^,"\\\s])?$'
        return {"type": "string", "minLength": 1, "maxLength": _LONGEST_NAME, "pattern": pattern}


class MarkedProperties:
    """The rule for the properties that an organization marks. A name that is there twice is kept once."""

    _NAME = PropertyName()

    def parse(self, field: str, value: object) -> tuple[str, ...]:
        """The names in their order. Raises InvalidField."""
        if not isinstance(value, list):
            raise InvalidField(field, "must be a list of names")
        if len(value) > MOST_MARKED:
            raise InvalidField(field, f"must have at most {MOST_MARKED} properties")
        places = enumerate(value)
        return tuple(dict.fromkeys(self._NAME.parse(f"{field}[{place}]", name) for place, name in places))

    def schema(self) -> Schema:
        """JSON Schema of the list."""
        return {"type": "array", "maxItems": MOST_MARKED, "items": self._NAME.schema()}


def parse_event_field(field: str, text: str) -> EventProperty | None:
    """The event field of this text; None if it is another field's. Raises InvalidField."""
    if not text.startswith(BEGIN):
        return None
    return EventProperty(BEGIN + PropertyName().parse(field, text.removeprefix(BEGIN)))


def event_fields(names: Iterable[str]) -> list[EventProperty]:
    """Those of these fields that are properties of events, each once."""
    return [name for name in dict.fromkeys(names) if isinstance(name, EventProperty)]


def check_marked(group_by: Iterable[str], filters: Mapping[Any, object], marked: Collection[str]) -> None:
    """Raises InvalidField if a field names a property that the organization has not marked."""
    for named, fields in (("group_by", event_fields(group_by)), ("filters", event_fields(filters))):
        for field in fields:
            if field.property_name not in marked:
                known = ", ".join(f"{BEGIN}{name}" for name in marked) or "none"
                where = f"filters.{field}" if named == "filters" else "group_by"
                raise InvalidField(
                    where,
                    f"can't be by {field}: the organization has not marked this property of events. Mark it "
                    "with PATCH /event-properties, in the dashboard's settings, or by `waylink organization "
                    f"event-properties`; marked are: {known}",
                )


def property_text(value: object) -> str | None:
    """How the value of a property reads in answers and filters; None for what has no value.

    A text as it is, a number as JSON writes it (a whole one without decimals), `true` or `false`. Objects,
    lists, null and a text without any character are no values.
    """
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return value.replace("\0", "\N{REPLACEMENT CHARACTER}") or None
        case int():
            return str(value)
        case float():
            return str(int(value)) if value.is_integer() and abs(value) < 2**63 else repr(value)
    return None


def property_texts(metadata: object) -> dict[str, str] | None:
    """The properties of an event that have values, each as it reads; None if there are none."""
    if not isinstance(metadata, Mapping):
        return None
    texts = {name: property_text(value) for name, value in metadata.items()}
    return {name: text for name, text in texts.items() if text is not None} or None
