"""Templates: text with the other fields of a row in it, such as `Link {path}`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from string import Formatter

from backend.domain.errors import OperatorError


class InvalidTemplate(OperatorError):
    """The text is not a template, or names fields that no row has. The message says which."""


@dataclass(frozen=True, slots=True)
class Template:
    """Text before each field, and the field; an empty name where only text is left."""

    parts: tuple[tuple[str, str], ...]

    @classmethod
    def parse(cls, text: str, field_names: Collection[str]) -> Template:
        """Read a template whose fields are among `field_names`. Raises InvalidTemplate."""
        try:
            parsed = list(Formatter().parse(text))
        except ValueError as error:
            raise InvalidTemplate(f"{text!r} is not a template: {error}.") from None
        for _, name, form, conversion in parsed:
            if name is not None and (name not in field_names or form or conversion):
                raise InvalidTemplate(
                    f"{text!r} names the field {name!r}, which rows don't have. "
                    f"There are: {', '.join(sorted(field_names))}."
                )
        return cls(tuple((before, name or "") for before, name, _, _ in parsed))

    def fill(self, values: Mapping[str, str]) -> str:
        """The text with these values. Empty if all fields that the template names are empty."""
        named_values = [values.get(name, "") for _, name in self.parts if name]
        if named_values and not any(named_values):
            return ""
        return "".join(before + values.get(name, "") for before, name in self.parts).strip()
