"""Deletes rows that an organization keeps no longer."""

# ruff: noqa: S608 - names of tables and columns are constants, and values are parameters

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from duckdb import DuckDBPyConnection

from backend.storage.columns.tables.staged import milliseconds
from backend.storage.columns.tables.transactions import transaction

# The column with the time from which a row ages, as in the RETENTION of its collection.
_AGES_FROM: Mapping[str, str] = {"records": '"at"', "devices": "last_seen_at", "installs": '"at"'}
# The column by which rows of other tables belong to them, and these tables.
_BELONGING = {
    "records": ("record", "tellings", "record_visits", "amounts", "refunds"),
    "devices": ("entry", "visits", "identities"),
}
_EXPIRED_KEPT = timedelta(days=1)
_ANY = " OR ".join(
    f"EXISTS (SELECT 1 FROM {table} WHERE {ages_from} < $oldest)" for table, ages_from in _AGES_FROM.items()
)


def has_expired(connection: DuckDBPyConnection, oldest: datetime) -> bool:
    """Whether anything that visitors did is older than `oldest`."""
    return connection.execute(f"SELECT {_ANY}", {"oldest": milliseconds(oldest)}).fetchone() == (True,)


def expire(connection: DuckDBPyConnection, oldest: datetime, now: datetime) -> None:
    """Delete what visitors did before `oldest`."""
    values = {"oldest": milliseconds(oldest)}
    with transaction(connection):
        for owner, ages_from in _AGES_FROM.items():
            expired = f"FROM {owner} WHERE {ages_from} < $oldest"
            key, *belonging = _BELONGING.get(owner, ("id",))
            for table in belonging:
                connection.execute(f"DELETE FROM {table} WHERE {key} IN (SELECT {key} {expired})", values)
            connection.execute(f"DELETE {expired}", values)
        noted = "UPDATE state SET expired_at = coalesce(expired_at, $now)"
        connection.execute(noted, {"now": milliseconds(now)})


def note_forgotten(connection: DuckDBPyConnection) -> None:
    """Note that something was deleted of which no byte is to stay: they do until the file is written anew."""
    connection.execute("UPDATE state SET forgotten = forgotten + 1")


def is_to_be_rewritten(connection: DuckDBPyConnection, now: datetime) -> bool:
    """Whether the file has bytes for too long of what was deleted: of people at all, of what expired, a day.

    Something expires all the time, and each time the whole file would be written for it.
    """
    query = "SELECT forgotten > 0 OR coalesce(expired_at < $latest, false) FROM state"
    return connection.execute(query, {"latest": milliseconds(now - _EXPIRED_KEPT)}).fetchone() == (True,)


def forget_all(connection: DuckDBPyConnection) -> None:
    """Empty all tables, and note that nothing is here yet."""
    # Of a new file, all are empty: to delete nothing takes as long as to delete.
    tables = connection.execute(
        "SELECT table_name FROM duckdb_tables() WHERE database_name = current_database() "
        "AND NOT temporary AND table_name <> 'state' AND estimated_size > 0"
    ).fetchall()
    with transaction(connection):
        connection.execute(
            "UPDATE state SET place = 0, mark = NULL, is_loaded = false, done = 0, clicks_until = NULL"
        )
        if tables:
            note_forgotten(connection)
        for (table,) in tables:
            connection.execute(f"DELETE FROM {table}")
