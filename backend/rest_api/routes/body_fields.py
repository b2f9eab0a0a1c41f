"""Bodies that are read by a rule for each of their fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from backend.domain.errors import MissingField, raise_all, unknown_fields
from backend.domain.fields.rules import Rule, Schema, parse_fields
from backend.json_api import error_table
from backend.json_api.error_table import ErrorRow
from backend.json_api.json_body import MAX_BODY_BYTES, PLAIN, JsonReader, read_json_object


@dataclass(frozen=True, slots=True)
class BodyFields:
    """A JSON object that has these fields only, and must have those of `required`.

    Null, and the empty text, stand for a field of `clearable` that is not set. The body has `most_bytes` at
    most; `reader` says what its numbers become.
    """

    rules: Mapping[str, Rule[Any]]
    required: tuple[str, ...] = ()
    clearable: frozenset[str] = frozenset()
    most_bytes: int = MAX_BODY_BYTES
    reader: JsonReader = PLAIN

    async def read(self) -> dict[str, Any]:
        """The fields of the current request's body, parsed; None for one that is not set.

        Raises MissingField and InvalidField, with the errors of all fields.
        """
        body = await read_json_object(self.most_bytes, self.reader)
        errors = unknown_fields(body, self.rules)
        for name in self.required:
            if body.get(name) is None:
                body.pop(name, None)
                errors.append(MissingField(name))
        cleared = {name: None for name in self.clearable if body.get(name, 0) in (None, "")}
        others = {name: value for name, value in body.items() if name not in cleared}
        fields = parse_fields(self.rules, others, errors)
        raise_all(errors)
        return cleared | fields

    @property
    def errors(self) -> tuple[ErrorRow, ...]:
        """The error of a field that is missing, if one can be."""
        return (error_table.FIELD_MISSING,) if self.required else ()

    def schema(self) -> Schema:
        """JSON Schema of the body."""
        properties = {
            name: clearable(rule.schema()) if name in self.clearable else rule.schema()
            for name, rule in self.rules.items()
        }
        body = {"type": "object", "additionalProperties": False, "properties": properties}
        return body | ({"required": list(self.required)} if self.required else {})


def clearable(schema: Schema, *, by_empty: bool = True) -> Schema:
    """The schema of an optional field of a body: it may be null, and with `by_empty` also an empty text."""
    empty: list[Schema] = [{"type": "null"}]
    if by_empty:
        empty.append({"type": "string", "maxLength": 0})
    return {"anyOf": [schema, *empty]}
