"""A stream, such as standard output, as a target. It keeps no cursor: who reads it does."""

from __future__ import annotations

import os
from collections.abc import Sequence, Set

from backend.domain.feed.cursor import Cursor
from backend.domain.feed.events import Event, EventType
from backend.follow.event_lines import LineForm, Lines
from backend.follow.target import Followed


class StreamTarget:
    """Writes lines to a file descriptor that is open. Raises BrokenPipeError once nobody reads there."""

    needs: Set[EventType] = frozenset()

    def __init__(self, descriptor: int, form: LineForm) -> None:
        self._descriptor = descriptor
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
        write_all(self._descriptor, text.encode())


def write_all(descriptor: int, content: bytes) -> None:
    """Write all of it, where one write may take but a part. Raises OSError."""
    left = memoryview(content)
    while left:
        left = left[os.write(descriptor, left) :]
