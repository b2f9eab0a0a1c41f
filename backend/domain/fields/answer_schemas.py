"""What JSON Schemas of answers are made of."""

from __future__ import annotations

from backend.domain.fields.rules import Schema

TEXT: Schema = {"type": "string"}
TEXTS: Schema = {"type": "array", "items": TEXT}
# Said, since generators of clients take an object without properties for one that has none.
ANYTHING: Schema = {"type": "object", "additionalProperties": True}
COUNT: Schema = {"type": "integer", "minimum": 0}
UUID: Schema = {"type": "string", "format": "uuid"}
# The contract's date-times carry no zone, so `format: date-time` would be wrong.
CONTRACT_TIME: Schema = {
    "type": "string",
    "pattern": r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}$",
    "description": "UTC, in whole seconds, without zone.",
}
# The times of operations beside the contract's.
TIME: Schema = {"type": "string", "format": "date-time", "description": "UTC, in whole seconds."}
INSTANT: Schema = {"type": "string", "format": "date-time", "description": "UTC, in milliseconds."}


def answer_object(**properties: Schema) -> Schema:
    """The schema of an object with at least these properties: version 1 may get more."""
    return {"type": "object", "required": list(properties), "properties": properties}


def or_null(schema: Schema, meaning: str = "") -> Schema:
    """The schema of such a value or null, and what it means, if that needs words."""
    return {"anyOf": [schema, {"type": "null"}]} | ({"description": meaning} if meaning else {})
