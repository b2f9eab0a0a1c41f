"""What files of columns say of themselves: how far they have come, and in which feed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from duckdb import DuckDBPyConnection

from backend.domain.feed.cursor import Cursor, FeedMark
from backend.storage.columns.tables.staged import milliseconds


@dataclass(frozen=True, slots=True)
class State:
    """How far an organization's files have come.

    Everything before `cursor` is there if it `is_loaded`. Of a load that was begun there, which is not at
    place 0 then, so many steps are `done`, and all blocks of clicks up to `clicks_until` (milliseconds since
    1970).
    """

    cursor: Cursor
    is_loaded: bool
    done: int
    clicks_until: int | None

    @property
    def is_begun(self) -> bool:
        """Whether anything was loaded."""
        return self.cursor.place > 0


def read_state(connection: DuckDBPyConnection) -> State:
    """The state as it is written."""
    query = "SELECT place, mark, is_loaded, done, clicks_until FROM state"
    row = connection.execute(query).fetchone()
    assert row
    place, mark, *rest = row
    return State(Cursor(place, mark=FeedMark.parse(mark) if mark else None), *rest)


def read_numbering(connection: DuckDBPyConnection) -> str:
    """What changes when the numbers of links do."""
    [(numbering,)] = connection.execute("SELECT numbering FROM state").fetchall()
    return str(numbering)


def note_cursor(connection: DuckDBPyConnection, cursor: Cursor) -> None:
    """Write up to which cursor, between two entries, the feed is there."""
    mark = str(cursor.mark) if cursor.mark else None
    connection.execute("UPDATE state SET place = $place, mark = $mark", {"place": cursor.place, "mark": mark})


def note_loaded(connection: DuckDBPyConnection, done: int) -> None:
    """Write that so many steps of a load are done."""
    connection.execute("UPDATE state SET done = $done", {"done": done})


def note_clicks(connection: DuckDBPyConnection, until: datetime) -> None:
    """Write that all blocks of clicks are there whose last click is before this, but for later ones."""
    connection.execute("UPDATE state SET clicks_until = $until", {"until": milliseconds(until)})


def note_all_loaded(connection: DuckDBPyConnection) -> None:
    """Write that everything before the place is there."""
    connection.execute("UPDATE state SET is_loaded = true")
