"""Booleans in query strings."""

from __future__ import annotations

from backend.domain.errors import InvalidField
from backend.domain.fields.rules import Flag, Schema


class QueryFlag:
    """A boolean in a query string: `true` or `false`."""

    def parse(self, field: str, value: object) -> bool:
        """The boolean. Raises InvalidField."""
        if value not in {"true", "false"}:
            raise InvalidField(field, "must be true or false")
        return value == "true"

    def schema(self) -> Schema:
        """JSON Schema of a boolean."""
        return Flag().schema() | {"default": False}
