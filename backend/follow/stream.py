"""A stream, such as standard output, as a target. It keeps no cursor: who reads it does."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import BinaryIO

from backend.domain.feed.cursor import Cursor
from backend.domain.feed.events import Event, EventType
from backend.follow.event_lines import LineForm, Lines
from backend.follow.target import Followed


class StreamTarget:
    """Writes lines to an open stream. Raises BrokenPipeError once nobody reads there."""

    needs: Set[EventType] = frozenset()

    def __init__(self, stream: BinaryIO, form: LineForm) -> None:
        self._stream = stream
        self._lines = Lines(form)
        self._cursor: Cursor | None = None

    async def open(self, followed: Followed) -> Cursor:
        """Begin with the names of columns, where the form has them."""
        if self._cursor is None:
            self._write(self._lines.head())
            self._cursor = followed.after
        return self._cursor

    async def write(self, events: Sequence[Event], cursor: Cursor) -> None:
        """Write a line for each event."""
        self._write(self._lines.lines(events))
        self._cursor = cursor

    async def close(self) -> None:
        """Leave the stream open: it belongs to who opened it."""

    def _write(self, text: str) -> None:
        self._stream.write(text.encode())
        self._stream.flush()
