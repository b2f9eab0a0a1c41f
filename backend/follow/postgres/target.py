"""PostgreSQL as a target: events and the cursor behind them are written in one transaction.

So each event is there exactly once, whatever process dies: events that were not committed are read again.
A second follower waits at an advisory lock. Even without that lock two could not both write, since each moves
the cursor only from the place where it knows it to be.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import groupby
from typing import Any, TypeAlias

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from backend.domain.errors import OperatorError
from backend.domain.feed.cursor import Cursor
from backend.domain.feed.events import Event, EventType
from backend.follow.erasures import without_person
from backend.follow.event_lines import as_json
from backend.follow.postgres.erasure import erase
from backend.follow.postgres.tables import make_tables
from backend.follow.target import FollowedFeed, TakenBack, TargetAway, TargetTaken, check_same, entry_of

PostgresConnection: TypeAlias = psycopg.AsyncConnection[tuple[Any, ...]]

# How soon we notice a dead server or connection, unless the address says otherwise.
_DEFAULTS: dict[str, Any] = {
    "application_name": "waylink follow",
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
# How soon the server notices a dead follower, whose lock would keep the next one waiting for hours.
_NOTICE_US = "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3"
_LOCK = "SELECT pg_try_advisory_lock(hashtextextended('waylink follow ' || current_schema() || %s, 0))"
_UNLOCK = _LOCK.replace("try_advisory_lock", "advisory_unlock")
_BEGIN = "INSERT INTO waylink_cursors (org_id, types, cursor) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING"
_FIND = "SELECT types, cursor FROM waylink_cursors WHERE org_id = %s"
_MOVE = "UPDATE waylink_cursors SET cursor = %s, moved_at = now() WHERE org_id = %s AND cursor = %s"
_LAST_ENTRIES = """
SELECT place, min(id) FROM waylink_events WHERE org_id = %s AND place <= %s
GROUP BY place ORDER BY place DESC LIMIT %s
"""
_DELETE_BEHIND = """
WITH gone AS (DELETE FROM waylink_events WHERE org_id = %s AND (place, index) > (%s, %s) RETURNING type)
SELECT count(*), count(*) FILTER (WHERE type = 'erased') FROM gone
"""
_COPY = "COPY waylink_events (id, org_id, type, at, place, index, data) FROM STDIN"


class PostgresTarget:
    """Writes into the database at `address`, a URI or connection string as libpq takes it.

    Deletes the rows of people who are erased.
    """

    needs: Set[EventType] = frozenset({EventType.ERASED})

    def __init__(self, address: str) -> None:
        try:
            self._conninfo = make_conninfo(**(_DEFAULTS | conninfo_to_dict(address)))
        except psycopg.ProgrammingError as error:
            raise OperatorError(f"--to can't be read as an address of PostgreSQL: {error}") from None
        self._connection: PostgresConnection | None = None
        self._was_open = False
        self._has_lock = False
        self._followed: FollowedFeed | None = None
        self._cursor = ""

    async def open(self, followed: FollowedFeed) -> Cursor:
        """Connect, create missing tables, and return the stored cursor.

        Raises OperatorError for an address that never worked.
        """
        self._followed = followed
        with self._database_errors():
            self._connection = await psycopg.AsyncConnection.connect(self._conninfo, autocommit=True)
            await self._connection.execute(_NOTICE_US)
            await self._lock(followed)
            async with self._connection.transaction():
                await make_tables(self._connection)
                cursor = await self._find_cursor(followed)
        self._was_open = True
        return cursor

    async def write(self, events: Sequence[Event], cursor: Cursor) -> None:
        """Write the events, and move the cursor, in one transaction."""
        if str(cursor) == self._cursor:
            return
        assert self._connection is not None
        with self._database_errors():
            async with self._connection.transaction():
                await self._move_cursor(cursor)
                for is_erasure, group in groupby(events, lambda event: event.type is EventType.ERASED):
                    if is_erasure:
                        await self._erase(list(group))
                    else:
                        await self._copy(list(group))
        self._cursor = str(cursor)

    async def last_entries(self, place: int, limit: int) -> Mapping[int, str]:
        """The last entries up to this place of which there are rows."""
        assert self._connection is not None
        assert self._followed is not None
        with self._database_errors():
            rows = await self._connection.execute(_LAST_ENTRIES, [self._followed.org_id, place, limit])
            return {place: entry_of(event_id) async for place, event_id in rows}

    async def go_back(self, cursor: Cursor) -> TakenBack:
        """Delete the rows behind the cursor, and move the stored one there, in one transaction."""
        assert self._connection is not None
        assert self._followed is not None
        with self._database_errors():
            async with self._connection.transaction():
                await self._move_cursor(cursor)
                behind = [self._followed.org_id, cursor.place, cursor.index]
                row = await (await self._connection.execute(_DELETE_BEHIND, behind)).fetchone()
        self._cursor = str(cursor)
        assert row is not None
        return TakenBack(*row)

    async def close(self) -> None:
        """Close the connection, and free the lock."""
        if self._connection is not None:
            connection, self._connection = self._connection, None
            with contextlib.suppress(psycopg.Error):
                await self._unlock(connection)
            with contextlib.suppress(psycopg.Error):
                await connection.close()

    async def _lock(self, followed: FollowedFeed) -> None:
        assert self._connection is not None
        row = await (await self._connection.execute(_LOCK, [followed.org_id])).fetchone()
        if row == (None,):
            raise OperatorError(
                "PostgreSQL names no schema in which tables can be made: set search_path, for example by "
                "`?options=-csearch_path%3Dpublic` at the end of --to."
            )
        if row != (True,):
            raise TargetTaken("Another follower writes this organization's events into the database.")
        self._has_lock = True

    async def _unlock(self, connection: PostgresConnection) -> None:
        """Free the lock at once: the server would do so a moment after the connection has ended."""
        if self._has_lock:
            assert self._followed is not None
            self._has_lock = False
            await connection.execute(_UNLOCK, [self._followed.org_id])

    async def _find_cursor(self, followed: FollowedFeed) -> Cursor:
        assert self._connection is not None
        await self._connection.execute(_BEGIN, [followed.org_id, followed.named_types, str(followed.after)])
        row = await (await self._connection.execute(_FIND, [followed.org_id])).fetchone()
        assert row is not None
        types, self._cursor = row
        check_same(followed.org_id, types, followed, "the database")
        return Cursor.parse(self._cursor)

    async def _move_cursor(self, cursor: Cursor) -> None:
        assert self._connection is not None
        assert self._followed is not None
        result = await self._connection.execute(_MOVE, [str(cursor), self._followed.org_id, self._cursor])
        if result.rowcount != 1:
            raise TargetTaken("Another follower has moved the cursor in waylink_cursors.")

    async def _copy(self, events: Sequence[Event]) -> None:
        assert self._connection is not None
        async with self._connection.cursor() as cursor, cursor.copy(_COPY) as copy:
            for event in events:
                await copy.write_row(_row(event, event.data))

    async def _erase(self, events: Sequence[Event]) -> None:
        """Delete the rows of these people, and keep rows of the erasures without their names."""
        assert self._connection is not None
        for event in events:
            await erase(self._connection, event.org_id, event.data)
        assert self._followed is not None
        if EventType.ERASED in self._followed.types:
            await self._copy([without_person(event) for event in events])

    @contextlib.contextmanager
    def _database_errors(self) -> Iterator[None]:
        """Turn PostgreSQL's errors into TargetAway and OperatorError."""
        try:
            yield
        except (psycopg.OperationalError, psycopg.InterfaceError) as error:
            if self._was_open:
                raise TargetAway(f"PostgreSQL can't be used now: {_first_line(error)}") from None
            raise OperatorError(f"PostgreSQL can't be used; check --to. {_first_line(error)}") from None
        except psycopg.errors.InsufficientPrivilege as error:
            raise OperatorError(
                f"PostgreSQL refuses it: {_first_line(error)}. The role needs CREATE in its schema, "
                "and owns the tables that it made."
            ) from None
        except psycopg.Error as error:
            raise OperatorError(f"PostgreSQL refuses what was written: {_first_line(error)}") from None


def _row(event: Event, data: Mapping[str, Any]) -> tuple[Any, ...]:
    place = event.cursor
    return event.id, event.org_id, event.type.value, event.at, place.place, place.index, _json(data)


def _json(data: Mapping[str, Any]) -> str:
    """The data as PostgreSQL takes it: its texts can have every character but U+0000."""
    return as_json(_without_nul(data))


def _without_nul(value: Any) -> Any:
    match value:
        case str():
            return value.replace("\0", "\ufffd")
        case dict():
            return {_without_nul(name): _without_nul(item) for name, item in value.items()}
        case list() | tuple():
            return [_without_nul(item) for item in value]
    return value


def _first_line(error: psycopg.Error) -> str:
    return str(error).strip().split("\n")[0].rstrip(".") or type(error).__name__
