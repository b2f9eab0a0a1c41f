"""Runs: events of one fact that follow each other in a feed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from backend.domain.feed.cursor import Cursor, FeedMark
from backend.domain.feed.facts import Fact


class EventContent(NamedTuple):
    """The content of an event: when it happened, and its data."""

    at: datetime
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Run:
    """`count` events of a fact, from its event number `first` on, counted from 0.

    The first of them is event number `index` of the entry with this id and `place`, which was `stored_at`.
    """

    entry: str
    place: int
    index: int
    fact: Fact
    first: int
    count: int
    stored_at: datetime

    @property
    def end(self) -> Cursor:
        """The cursor behind its last event."""
        return self.cursor_behind(self.count - 1)

    def id_of(self, number: int) -> str:
        """The id of the event with this number in the run."""
        return f"{self.entry}-{self.index + number}"

    def cursor_behind(self, number: int) -> Cursor:
        """The cursor behind the event with this number in the run."""
        return Cursor(self.place, self.index + number + 1, FeedMark.of(self.entry, self.stored_at))
