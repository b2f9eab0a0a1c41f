"""Names of query parameters."""

from __future__ import annotations

from backend.domain.errors import InvalidField
from backend.domain.fields.rules import Schema, Text

MOST_NAMES = 50


class ParameterNames:
    """A list of names of query parameters, each kept once, in the order in which they were given."""

    _NAME = Text(200)

    def parse(self, field: str, value: object) -> list[str]:
        """The names. Raises InvalidField."""
        if not isinstance(value, list) or len(value) > MOST_NAMES:
            raise InvalidField(field, f"must be null, or a list of at most {MOST_NAMES} names of parameters")
        return list(dict.fromkeys(self._NAME.parse(f"{field}[{at}]", name) for at, name in enumerate(value)))

    def schema(self) -> Schema:
        """JSON Schema of the list."""
        return {"type": "array", "items": self._NAME.schema(), "maxItems": MOST_NAMES}
