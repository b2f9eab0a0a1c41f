"""Cursors: how far somebody has read an organization's feed."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TEXT = re.compile(r"(0|[1-9][0-9]{0,17})\.(0|[1-9][0-9]{0,8})")


class InvalidCursor(ValueError):
    """A text that no feed gave as a cursor."""


@dataclass(frozen=True, slots=True, order=True)
class Cursor:
    """A position in a feed, up to which all events were read.

    These are the events of all entries before `place`, and the first `index` events of the entry there.

    Places are counted from 1 for each organization, and are never given to another entry.
    """

    place: int
    index: int = 0

    def __str__(self) -> str:
        return f"{self.place}.{self.index}"

    @classmethod
    def parse(cls, text: str) -> Cursor:
        """The cursor that was written as this text. Raises InvalidCursor."""
        match = _TEXT.fullmatch(text)
        if match is None:
            raise InvalidCursor(text)
        return cls(int(match[1]), int(match[2]))


# Where a feed begins.
START = Cursor(1)
