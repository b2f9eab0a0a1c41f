"""An organization's tables, as they are written to."""

# ruff: noqa: S608 - names of catalogues and tables are our own

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from duckdb import DuckDBPyConnection

# The tables of files of clicks.
_OF_CLICKS = ("blocks", "clicks", "day_visitors")


class WrittenColumns(NamedTuple):
    """A connection that sees all tables, and in which catalogues they are.

    `main` has all but clicks. `clicks_of` is asked for the catalogue that has, or is to have, the clicks of a
    day, counted from 1970; `click_catalogs` for all of them.

    DuckDB writes to one file in a transaction. So rows of clicks come in transactions of their own, behind
    the numbers of their links and before the place in the feed. What is written again, since the place was
    not written, changes nothing.
    """

    connection: DuckDBPyConnection
    main: str
    clicks_of: Callable[[int], str]
    click_catalogs: Callable[[], Sequence[str]]


def show_clicks(connection: DuckDBPyConnection, catalogs: Sequence[str]) -> None:
    """Have the connection see each table of clicks as one, whatever catalogues its rows are in.

    `rowid` tells rows of a day apart, which are in one catalogue.
    """
    for table in _OF_CLICKS:
        rows = (f"SELECT *, rowid FROM {catalog}.{table}" for catalog in catalogs)
        connection.execute(f"CREATE OR REPLACE TEMP VIEW {table} AS {' UNION ALL '.join(rows)}")
