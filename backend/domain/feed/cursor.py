"""Cursors: how far somebody has read an organization's feed."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass, field
from datetime import UTC, datetime

_TEXT = re.compile(r"(0|[1-9][0-9]{0,17})\.(0|[1-9][0-9]{0,8})(?:\.([0-9a-f]{16}))?")
# The most characters that a cursor's text has.
MOST_CHARACTERS = 18 + 1 + 9 + 1 + 16


class InvalidCursor(ValueError):
    """A text that no feed gave as a cursor."""


@dataclass(frozen=True, slots=True)
class FeedMark:
    """Which entry of a feed somebody has seen: the second in which it was stored, and a checksum of its id.

    So a reader notices a feed that was put back from a backup: the places behind the backup are given again,
    to entries that are stored later.
    """

    second: int
    checksum: str

    def __str__(self) -> str:
        return f"{self.second:08x}{self.checksum}"

    @classmethod
    def of(cls, entry: str, stored_at: datetime) -> FeedMark:
        """The mark of the entry with this id, without the organization's, which was stored at this time."""
        return cls(int(stored_at.timestamp()), f"{zlib.crc32(entry.encode()):08x}")

    @classmethod
    def parse(cls, text: str) -> FeedMark:
        """The mark that was written as this text."""
        return cls(int(text[:8], 16), text[8:])

    @property
    def stored_at(self) -> datetime:
        """The second in which the entry was stored."""
        return datetime.fromtimestamp(self.second, UTC)


@dataclass(frozen=True, slots=True, order=True)
class Cursor:
    """A position in a feed, up to which all events were read.

    These are the events of all entries before `place`, and the first `index` events of the entry there.
    `mark` is that of the last of these entries that was kept when the cursor was given; None if there was
    none. Cursors are equal, and in order, by their positions.

    Places are counted from 1 for each organization, and are never given to another entry, unless MongoDB is
    put back from a backup.
    """

    place: int
    index: int = 0
    mark: FeedMark | None = field(default=None, compare=False)

    def __str__(self) -> str:
        position = f"{self.place}.{self.index}"
        return f"{position}.{self.mark}" if self.mark else position

    @classmethod
    def parse(cls, text: str) -> Cursor:
        """The cursor that was written as this text. Raises InvalidCursor."""
        match = _TEXT.fullmatch(text)
        if match is None:
            raise InvalidCursor(text)
        return cls(int(match[1]), int(match[2]), FeedMark.parse(match[3]) if match[3] else None)

    @property
    def last_place(self) -> int:
        """The place of the last entry of which something was read."""
        return self.place if self.index else self.place - 1


# Where a feed begins.
START = Cursor(1)
