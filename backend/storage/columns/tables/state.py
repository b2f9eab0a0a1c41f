"""What a file of columns says of itself: how far it has come, and in which feed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from duckdb import DuckDBPyConnection

from backend.storage.columns.tables.staged import milliseconds
from backend.storage.feed.marks import FeedMark


@dataclass(frozen=True, slots=True)
class State:
    """How far a file has come.

    Everything before `place` is there if it `is_loaded`. Of a load that was begun at `place`, which is not 0
    then, so many steps are `done`, and all blocks of clicks up to `clicks_until` (milliseconds since 1970).
    """

    place: int
    mark: FeedMark | None
    is_loaded: bool
    done: int
    clicks_until: int | None

    @property
    def is_begun(self) -> bool:
        """Whether anything was loaded."""
        return self.place > 0


def read_state(connection: DuckDBPyConnection) -> State:
    """The state as it is written."""
    query = "SELECT place, entry_place, entry, is_loaded, done, clicks_until FROM state"
    row = connection.execute(query).fetchone()
    assert row
    place, entry_place, entry, *rest = row
    return State(place, None if entry is None else FeedMark(entry_place, entry), *rest)


def note_place(connection: DuckDBPyConnection, place: int, mark: FeedMark | None) -> None:
    """Write up to which place the feed is there; without a mark, the former one stays."""
    connection.execute("UPDATE state SET place = $place", {"place": place})
    if mark:
        change = "UPDATE state SET entry_place = $place, entry = $entry"
        connection.execute(change, {"place": mark.place, "entry": mark.entry})


def note_loaded(connection: DuckDBPyConnection, done: int) -> None:
    """Write that so many steps of a load are done."""
    connection.execute("UPDATE state SET done = $done", {"done": done})


def note_clicks(connection: DuckDBPyConnection, until: datetime) -> None:
    """Write that all blocks of clicks are there whose last click is before this, but for later ones."""
    connection.execute("UPDATE state SET clicks_until = $until", {"until": milliseconds(until)})


def note_all_loaded(connection: DuckDBPyConnection) -> None:
    """Write that everything before the place is there."""
    connection.execute("UPDATE state SET is_loaded = true")
