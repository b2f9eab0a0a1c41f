"""The progress of `waylink follow`, printed on stderr."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime

import click

from backend.cli.printable import printable
from backend.domain.feed.cursor import START, Cursor
from backend.domain.feed.events import Event
from backend.domain.fields.json_times import exact_time_json
from backend.follow.target import ERASE_AGAIN, TakenBack

# Seconds between two lines of progress.
_TERMINAL_INTERVAL, _LOG_INTERVAL = 1.0, 60.0
_CLEAR_LINE = "\r\x1b[K"


class FollowProgress:
    """Prints how far the command is: on a terminal in one line that changes, in a log once a minute.

    `name` is the organization's, `place` where the events go. Without a place, events are printed on stdout;
    then only the beginning and the end are told.
    """

    def __init__(self, name: str, place: str | None, *, is_terminal: bool) -> None:
        self._name = name
        self._place = place
        self._changes = is_terminal and place is not None
        self._events = 0
        self._cursor: Cursor | None = None
        self._last_at: datetime | None = None
        self._told_at = time.monotonic()
        self._waits_for = ""
        self._said_end = False

    def opened(self, cursor: Cursor) -> None:
        """Say where it begins; after an outage, where it goes on."""
        start = "the beginning" if cursor == START else f"cursor {cursor}"
        into = f" into {self._place}" if self._place else ""
        begins = f"Following {self._name!r} from {start}{into}; Ctrl-C stops it."
        self._say(begins if self._cursor is None else f"Going on from {start}.")
        self._cursor, self._waits_for, self._said_end = cursor, "", False

    def wrote(self, events: Sequence[Event], cursor: Cursor) -> None:
        """Count the events, and say so now and then."""
        self._events += len(events)
        self._cursor, self._last_at = cursor, events[-1].at
        if time.monotonic() - self._told_at >= (_TERMINAL_INTERVAL if self._changes else _LOG_INTERVAL):
            self._tell()

    def went_back(self, cursor: Cursor, common: Cursor, taken: TakenBack) -> None:
        """The feed was put back from a backup: say what was deleted, and what somebody has to do."""
        erased = f", among them {taken.erasures} erasures" if taken.erasures else ""
        self._say(
            f"MongoDB was put back from a backup: it has not what was before the cursor {cursor}. "
            f"{taken.events} events{erased} were deleted here, and it goes on from {common}. {ERASE_AGAIN}"
        )
        self._cursor = common

    def reached_end(self) -> None:
        """Say once that everything is written."""
        if not self._said_end:
            self._said_end = True
            self._tell(" Everything is there; waiting for more.")

    def waits(self, reason: str) -> None:
        """Say once what it waits for."""
        if reason != self._waits_for:
            self._waits_for = reason
            self._say(f"{reason} Waiting; the feed keeps what happens meanwhile.")

    def ended(self) -> None:
        """Say where it ended, and how to go on."""
        if self._cursor is None:
            return
        go_on = "The same command goes on there." if self._place else f"Go on with --after {self._cursor}."
        self._say(f"Stopped at cursor {self._cursor}: {self._count()}. {go_on}")

    def _tell(self, and_: str = "") -> None:
        self._told_at = time.monotonic()
        if self._place is None:
            return
        last = f", the last of {exact_time_json(self._last_at)}" if self._last_at else ""
        line = f"{self._count()}{last} (cursor {self._cursor}).{and_}"
        if self._changes:
            click.echo(f"{_CLEAR_LINE}{printable(line)}", err=True, nl=False)
        else:
            self._say(line)

    def _count(self) -> str:
        return f"{self._events:,} event{'' if self._events == 1 else 's'} written"

    def _say(self, line: str) -> None:
        click.echo(f"{_CLEAR_LINE if self._changes else ''}{printable(line)}", err=True)
