"""`waylink follow`."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from backend.cli.command import CommandResult, run_on_database
from backend.cli.options import org_option
from backend.cli.printable import printable
from backend.domain.errors import InvalidField, OperatorError
from backend.domain.feed.cursor import START, Cursor, InvalidCursor
from backend.domain.feed.events import USUAL_TYPES, Event, EventType
from backend.domain.fields.rules import Instant
from backend.domain.fields.times.json_times import exact_time_json
from backend.domain.ids import OrgId
from backend.environment import load_settings
from backend.follow.clickhouse.target import ClickHouseTarget
from backend.follow.event_lines import LineForm
from backend.follow.files import FileTarget
from backend.follow.follower import Follower
from backend.follow.stream import StreamTarget
from backend.follow.target import ERASE_AGAIN, FeedTarget, FollowedFeed, TakenBack, not_given
from backend.storage.accounts import organizations
from backend.storage.driver.mongo import Database
from backend.storage.outbox.marks import FeedPutBack, check_cursor, cursor_at, end_of_feed
from backend.system.shown_address import shown_address
from backend.system.standard_streams import STDOUT, stream_at

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


_POSTGRES, _PARQUET, _CLICKHOUSE = "postgres", "parquet", "clickhouse"
_BEGINNING, _NOW = "beginning", "now"


def _after(_: click.Context, __: click.Parameter, text: str) -> Cursor | datetime | str:
    """A cursor, a moment, or one of the two words."""
    if text in {_BEGINNING, _NOW}:
        return text
    with contextlib.suppress(InvalidCursor):
        return Cursor.parse(text)
    try:
        return Instant().parse("--after", text)
    except InvalidField:
        raise click.BadParameter(
            f"{text!r} is neither a cursor that a feed gave, nor {_BEGINNING}, {_NOW} or a time such as "
            "2026-03-01T12:00:00Z"
        ) from None


def _types(_: click.Context, __: click.Parameter, text: str | None) -> frozenset[EventType]:
    if text is None:
        return USUAL_TYPES
    try:
        return frozenset(EventType(name.strip()) for name in text.split(","))
    except ValueError:
        names = ", ".join(name.value for name in EventType)
        raise click.BadParameter(f"{text!r} is not a list of types. They are {names}") from None


@click.command("follow")
@org_option
@click.option(
    "--into", "form", required=True,
    type=click.Choice([*(form.value for form in LineForm), _PARQUET, _POSTGRES, _CLICKHOUSE]),
    help="What to write: a table, lines of JSON, Parquet files by day, or rows of PostgreSQL or ClickHouse.",
)  # fmt: skip
@click.option(
    "--to", "place", metavar="PLACE",
    help="A file, a folder for parquet, or the address of a database (postgresql://…, https://… of "
    "ClickHouse). Without it, csv and ndjson are printed.",
)  # fmt: skip
@click.option(
    "--after", default=_BEGINNING, show_default=True, callback=_after, metavar="WHERE",
    help="Where the first run begins: behind a cursor, at the beginning, now, or at a time. Later runs go on "
    "where the one before stopped.",
)  # fmt: skip
@click.option("--types", callback=_types, metavar="TYPES", help="Only these types, such as lead,conversion.")
@click.option("--once", is_flag=True, help="End when everything that there is now is written.")
def follow(**arguments: Any) -> None:
    """Write what happens in an organization into a file or a database, as it comes.

    Every event is written exactly once and in order: the cursor is kept beside what is written, so a run goes
    on where the one before stopped, however that ended. Ctrl-C stops it; it is started again in the same way.
    """
    run_on_database(_follow, arguments)


async def _follow(  # noqa: PLR0917 - click passes each option by its name
    database: Database,
    org_id: OrgId,
    form: str,
    place: str | None,
    after: Cursor | datetime | str,
    types: frozenset[EventType],
    once: bool,
) -> CommandResult:
    owner = await organizations.get_organization(database, org_id)
    followed = FollowedFeed(org_id, types, await _cursor(database, org_id, after))
    progress = FollowProgress(owner.name, _shown(place), is_terminal=sys.stderr.isatty())
    url_form = load_settings().short_url_form
    name = f"into {form}" + (f" at {shown}" if (shown := _shown(place)) else "")
    target = _target(form, place)
    follower = Follower(database, followed, target, progress, name=name, url_form=url_form, once=once)
    with _stopped_by_signals(follower.stop), _reader_may_leave():
        await follower.run()
    progress.ended()
    if once and follower.stop.is_set():
        raise click.ClickException("It was stopped before the feed's end.")
    return {}


def _shown(place: str | None) -> str | None:
    """The place without a password."""
    return place if place is None else shown_address(place)


async def _cursor(database: Database, org_id: OrgId, after: Cursor | datetime | str) -> Cursor:
    if isinstance(after, datetime):
        return await cursor_at(database, org_id, after)
    if after == _BEGINNING:
        return START
    if not isinstance(after, Cursor):
        return await end_of_feed(database, org_id)
    try:
        await check_cursor(database, org_id, after)
    except FeedPutBack as put_back:
        raise not_given(put_back) from None
    return after


def _target(form: str, place: str | None) -> FeedTarget:
    """Raises UsageError, and OperatorError where what the target needs is not installed."""
    if form == _POSTGRES:
        return _postgres(place)
    if form == _CLICKHOUSE:
        return _clickhouse(place)
    if place is not None and place.startswith(("postgresql:", "postgres:")):
        raise click.UsageError("--to is the address of a database: use --into postgres.")
    if form == _PARQUET:
        return _parquet(place)
    if place is None:
        return StreamTarget(sys.stdout.buffer, LineForm(form))
    return _file(Path(place), LineForm(form))


def _file(path: Path, form: LineForm) -> FeedTarget:
    """Raises UsageError for what can keep no place to go on at, such as a device."""
    if stream_at(path) == STDOUT:
        return StreamTarget(sys.stdout.buffer, form)
    if path.exists() and not path.is_file():
        raise click.UsageError(f"--to must be a file: {path} is none. Without --to, events are printed.")
    return FileTarget(path, form)


def _postgres(place: str | None) -> FeedTarget:
    if place is None:
        raise click.UsageError("Name the database by --to, as postgresql://user@host/database.")
    try:
        from backend.follow.postgres.target import PostgresTarget  # noqa: PLC0415 - its driver is an extra
    except ImportError:
        raise OperatorError(
            "PostgreSQL's driver is not installed here: pip install 'waylink[postgres]', or psycopg[binary]."
        ) from None
    return PostgresTarget(place)


def _clickhouse(place: str | None) -> FeedTarget:
    if place is None:
        raise click.UsageError("Name the database by --to, as https://user@host:8443/database.")
    return ClickHouseTarget(place)


def _parquet(place: str | None) -> FeedTarget:
    if place is None:
        raise click.UsageError("Name a folder for the files by --to.")
    from backend.follow.parquet.target import ParquetTarget  # noqa: PLC0415 - DuckDB takes long to load

    return ParquetTarget(Path(place))


@contextlib.contextmanager
def _reader_may_leave() -> Iterator[None]:
    """End the block quietly once nobody reads what is printed, as `| head` does."""
    try:
        yield
    except BrokenPipeError:
        # What is left to be written at the end of the process would fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextlib.contextmanager
def _stopped_by_signals(stop: asyncio.Event) -> Iterator[None]:
    """Ctrl-C and SIGTERM say stop; a second one ends the process at once."""
    loop = asyncio.get_running_loop()
    numbers = (signal.SIGINT, signal.SIGTERM)

    def say_stop() -> None:
        stop.set()
        for number in numbers:
            loop.remove_signal_handler(number)

    with contextlib.suppress(RuntimeError, ValueError):  # only the main thread can
        for number in numbers:
            loop.add_signal_handler(number, say_stop)
    yield
