"""Ids of installations, which apps make."""

from __future__ import annotations

from backend.domain.fields.rules import Schema, Text, is_uuid
from backend.domain.ids import InstallId


class InstallIdText:
    """The id that an app made for its installation: any text, or a UUID, whose letters' case says nothing.

    iOS writes UUIDs in capitals, and Android in small letters.
    """

    _TEXT = Text(128)

    def parse(self, field: str, value: object) -> InstallId:
        """The id; a UUID in small letters. Raises InvalidField."""
        return install_id_of(self._TEXT.parse(field, value))

    def schema(self) -> Schema:
        """JSON Schema of a string with these lengths."""
        return self._TEXT.schema()


def install_id_of(text: str) -> InstallId:
    """The installation that an app names so: one and the same, in whichever case a UUID's letters are."""
    return InstallId(text.lower() if is_uuid(text) else text)
