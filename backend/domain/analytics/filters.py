"""Reads the filters of a query of analytics: which values of fields pass them."""

from __future__ import annotations

from backend.domain.analytics.event_properties import BEGIN, parse_event_field
from backend.domain.analytics.query import TIMES, Field, Filter, Not, Prefix, QueryField
from backend.domain.errors import InvalidField, shown_name
from backend.domain.fields.item_names import ItemName
from backend.domain.fields.rules import HostName, Schema, Uuid, parse_string

MOST_VALUES = 200
_LONGEST_VALUE = 1024
_FILTERED = [field.value for field in Field if field not in TIMES]
_VALUES = f"a list of 1 to {MOST_VALUES:,} texts or null"


class Filters:
    """An object with, for each field, a list of the values that pass; null stands for no value.

    Instead of a list, `{"not": [...]}` names the values that do not pass, and `{"prefix": "..."}` the
    beginning of those that do.
    """

    def parse(self, field: str, value: object) -> dict[QueryField, Filter]:
        """The filters by field. Raises InvalidField, which names the filter."""
        if not isinstance(value, dict):
            raise InvalidField(field, "must be an object of lists")
        filters: dict[QueryField, Filter] = {}
        for name, chosen in value.items():
            shown = f"{field}.{shown_name(name)}"
            filtered = parse_event_field(shown, name)
            if filtered is None and name not in _FILTERED:
                possible = ", ".join((*_FILTERED, f"{BEGIN}NAME"))
                raise InvalidField(shown, f"can't be filtered by; possible are {possible}")
            by = filtered or Field(name)
            filters[by] = _filter(shown, by, chosen)
        return filters

    def schema(self) -> Schema:
        """JSON Schema of the object."""
        values: Schema = {
            "type": "array",
            "minItems": 1,
            "maxItems": MOST_VALUES,
            "items": {"type": ["string", "null"], "maxLength": _LONGEST_VALUE},
        }
        begin: Schema = {"type": "string", "minLength": 1, "maxLength": _LONGEST_VALUE}
        ways = {"anyOf": [values, _only("not", values), _only("prefix", begin)]}
        properties = dict.fromkeys(_FILTERED, ways)
        return {
            "type": "object",
            "properties": properties,
            "patternProperties": {r"^event\..": ways},
            "additionalProperties": False,
        }


def _only(name: str, schema: Schema) -> Schema:
    """An object that has this property, and no other."""
    properties = {name: schema}
    return {"type": "object", "properties": properties, "required": [name], "additionalProperties": False}


def _filter(shown: str, field: QueryField, chosen: object) -> Filter:
    match chosen:
        case {"not": values, **others} if not others:
            return Not(_values(shown, field, values))
        case {"prefix": str(text), **others} if not others:
            return Prefix(_text(shown, text))
        case list():
            return _values(shown, field, chosen)
    raise InvalidField(shown, f"must be {_VALUES}, or an object with not or prefix")


def _values(shown: str, field: QueryField, values: object) -> frozenset[str | None]:
    if not isinstance(values, list) or not 1 <= len(values) <= MOST_VALUES:
        raise InvalidField(shown, f"must be {_VALUES}")
    return frozenset(_value(shown, field, value) for value in values)


def _value(shown: str, field: QueryField, value: object) -> str | None:
    if value is None:
        return None
    match field:
        case Field.LINK:
            return Uuid().parse(shown, value)
        case Field.DOMAIN:
            return HostName().parse(shown, value)
        case Field.TAG:
            return ItemName().parse(shown, value)
    text = parse_string(shown, value)
    if len(text) > _LONGEST_VALUE:
        raise InvalidField(shown, f"must have at most {_LONGEST_VALUE} characters")
    return text


def _text(shown: str, value: str) -> str:
    """The text of a prefix. Raises InvalidField."""
    text = parse_string(shown, value)
    if not 1 <= len(text) <= _LONGEST_VALUE:
        raise InvalidField(shown, f"must have from 1 to {_LONGEST_VALUE} characters")
    return text
