"""Deletes rows that an organization keeps no longer."""

# ruff: noqa: S608 - names of tables and columns are constants, and values are parameters

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from duckdb import DuckDBPyConnection

from backend.storage.columns.tables.schema import CLICK_TABLES, TABLES, tables_in
from backend.storage.columns.tables.staged import milliseconds
from backend.storage.columns.tables.transactions import transaction
from backend.storage.columns.tables.written_columns import WrittenColumns

# The column with the time from which a row ages, as in the RETENTION of its collection.
_AGES_FROM: Mapping[str, str] = {"records": '"at"', "devices": "last_seen_at", "installs": '"at"'}
# The column by which rows of other tables belong to them, and these tables.
_BELONGING = {
    "records": ("record", "tellings", "record_visits", "amounts", "refunds"),
    "devices": ("entry", "visits", "identities"),
}
_EXPIRED_KEPT = timedelta(days=1)
# Tables about the files themselves.
_OF_FILES = ("state", "click_files")
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
        noted = "UPDATE upkeep SET expired_at = coalesce(expired_at, $now)"
        connection.execute(noted, {"now": milliseconds(now)})


def note_forgotten(connection: DuckDBPyConnection, catalog: str) -> None:
    """Note that something was deleted of which no byte is to stay: they do until the file is written anew."""
    connection.execute(f"UPDATE {catalog}.upkeep SET forgotten = forgotten + 1")


def is_to_be_rewritten(connection: DuckDBPyConnection, catalog: str, now: datetime) -> bool:
    """Whether a file has bytes for too long of what was deleted: of people at all, of what expired, a day.

    Something expires all the time, and each time the whole file would be written for it.
    """
    query = f"SELECT forgotten > 0 OR coalesce(expired_at < $latest, false) FROM {catalog}.upkeep"
    return connection.execute(query, {"latest": milliseconds(now - _EXPIRED_KEPT)}).fetchone() == (True,)


def forget_all(columns: WrittenColumns) -> None:
    """Empty all tables, and note that nothing is here yet."""
    connection = columns.connection
    with transaction(connection):  # the first: whatever comes between, all of it is done again
        connection.execute(
            "UPDATE state SET place = 0, mark = NULL, is_loaded = false, done = 0, clicks_until = NULL, "
            "numbering = uuid()"
        )
        _empty(connection, columns.main, TABLES)
    for catalog in columns.click_catalogs():
        with transaction(connection):
            _empty(connection, catalog, CLICK_TABLES)


def _empty(connection: DuckDBPyConnection, catalog: str, schema: str) -> None:
    tables = [f"{catalog}.{table}" for table in tables_in(schema) if table not in _OF_FILES]
    # Of a new file, all are empty: to delete nothing takes as long as to delete.
    filled = [table for table in tables if connection.execute(f"FROM {table} LIMIT 1").fetchall()]
    if filled:
        note_forgotten(connection, catalog)
    for table in filled:
        connection.execute(f"DELETE FROM {table}")
