"""Whole numbers of a query string."""

from __future__ import annotations

from dataclasses import dataclass

from backend.domain.errors import InvalidField
from backend.domain.fields.rules import Schema


@dataclass(frozen=True, slots=True)
class WholeNumber:
    """A number from `least` to `most`, written in digits. `default` only describes what its absence means."""

    least: int
    most: int
    default: int
    most_digits: int = 9

    def parse(self, field: str, value: object) -> int:
        """The number. Raises InvalidField."""
        text = str(value)
        is_number = text.isascii() and text.isdecimal() and len(text) <= self.most_digits
        if not (is_number and self.least <= int(text) <= self.most):
            raise InvalidField(field, f"must be a whole number from {self.least} to {self.most}")
        return int(text)

    def schema(self) -> Schema:
        """JSON Schema of the number."""
        return {"type": "integer", "minimum": self.least, "maximum": self.most, "default": self.default}
