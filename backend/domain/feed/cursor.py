"""Cursors: how far somebody has read an organization's feed."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TEXT = re.compile(r"(0|[1-9][0-9]{0,17})\.(0|[1-9][0-9]{0,8})")


class InvalidCursor(ValueError):
    """A text that no feed gave as a cursor."""


@dataclass(frozen=True, slots=True, order=True)
class Cursor:
    """All events before it were read: those of the entries before `place`, and `index` of that entry's.

    Places are counted from 1 for each organization, and are never given to another entry.
    """

    place: int
    index: int = 0

    def __str__(self) -> str:
        return f"{self.place}.{self.index}"

    @classmethod
    def parse(cls, text: str) -> Cursor:
        """The cursor that was written as this text. Raises InvalidCursor."""
        found = _TEXT.fullmatch(text)
        if found is None:
            raise InvalidCursor(text)
        return cls(int(found[1]), int(found[2]))


# Where a feed begins.
START = Cursor(1)
