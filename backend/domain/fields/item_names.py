"""Names that people give to things of an organization, such as tags. They are parts of REST addresses."""

from __future__ import annotations

import unicodedata

from backend.domain.errors import InvalidField
from backend.domain.fields.rules import Schema, Text

LONGEST_NAME = 64


class NameTaken(ValueError):
    """The organization already has such a thing of this name."""


class ItemName:
    """A name that is part of an address: `/` may stand between its parts."""

    _TEXT = Text(LONGEST_NAME, shown=True)

    def parse(self, field: str, value: object) -> str:
        """The name, with single spaces and in Unicode's composed form. Raises InvalidField."""
        text = " ".join(self._TEXT.parse(field, value).split())
        name = unicodedata.normalize("NFC", text)
        if "," in name:
            # Files and forms list names with commas between them.
            raise InvalidField(field, "must not contain a comma")
        if not {"", ".", ".."}.isdisjoint(part.strip() for part in name.split("/")):
            raise InvalidField(field, "must not have an empty part, . or .. before or behind a /")
        return self._TEXT.parse(field, name)

    def schema(self) -> Schema:
        """JSON Schema of a name."""
        return {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME, "pattern": "^[^,]*$"}


def name_key(name: str) -> str:
    """A key that is the same for names that differ only in upper and lower case."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
