"""Text that a terminal may be given."""

from __future__ import annotations


def printable(text: str) -> str:
    """The text without characters that control a terminal, since it may come from anyone."""
    return "".join(character if character.isprintable() else "�" for character in text)
