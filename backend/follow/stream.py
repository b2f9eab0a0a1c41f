"""A stream, such as standard output, as a target. The stream keeps no cursor: its reader does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import BinaryIO

from backend.domain.feed.cursor import Cursor
from backend.domain.feed.events import Event, EventType
from backend.follow.event_lines import LineForm, Lines
from backend.follow.target import FollowedFeed, TakenBack, begin_another


class StreamTarget:
    """Writes lines to an open stream. Raises BrokenPipeError once its reader has closed it."""

    needs: Set[EventType] = frozenset()

    def __init__(self, stream: BinaryIO, form: LineForm) -> None:
        self._stream = stream
        self._lines = Lines(form)
        self._cursor: Cursor | None = None

    async def open(self, followed: FollowedFeed) -> Cursor:
        """Write the names of columns, if the form has them, and return the cursor."""
        if self._cursor is None:
            self._write(self._lines.head())
            self._cursor = followed.after
        return self._cursor

    async def write(self, events: Sequence[Event], cursor: Cursor) -> None:
        """Write a line for each event."""
        self._write(self._lines.lines(events))
        self._cursor = cursor

    async def last_entries(self, place: int, limit: int) -> Mapping[int, str]:
        """None: what was printed is not known any more."""
        return {}

    async def go_back(self, cursor: Cursor) -> TakenBack:
        """Raise FeedLost: what was printed can't be taken back."""
        raise begin_another("what was printed", cursor)

    async def close(self) -> None:
        """Leave the stream open, since its opener closes it."""

    def _write(self, text: str) -> None:
        self._stream.write(text.encode())
        self._stream.flush()
