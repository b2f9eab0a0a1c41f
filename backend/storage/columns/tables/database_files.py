"""Files of DuckDB, each of which is a catalogue of the one instance that has all of them open."""

# ruff: noqa: S608 - names of catalogues and tables are our own

from __future__ import annotations

import contextlib
from pathlib import Path

from duckdb import DuckDBPyConnection, Error

from backend.storage.columns.tables.schema import UPKEEP, tables_in
from backend.storage.columns.tables.transactions import transaction

# What is kept of a file that was made anew, and a file that is being written.
FORMER, NEW = ".former", ".new"


class DatabaseFile:
    """A file, which is open from `attach` until `detach`. `catalog` is how it is called in SQL."""

    def __init__(self, instance: DuckDBPyConnection, path: Path, name: str) -> None:
        self.path = path
        self.catalog = f'"{name}"'
        self._name = name
        self._duckdb = instance
        self._inode: int | None = None

    def attach(self) -> None:
        """Open the file as it is, also where it is empty. One that is missing is begun."""
        is_new = not self.path.exists()
        try:
            with self._duckdb.cursor() as connection:
                connection.execute(f"ATTACH {_quoted(self.path)} AS {self.catalog}")
        except BaseException:
            if is_new:  # a full disk has let it be begun
                delete(self.path)
            raise
        self._inode = self.path.stat().st_ino

    def attach_new(self, tables: str) -> None:
        """Open the file with these tables, in the place of what is there under its name."""
        delete(self.path)
        self.attach()
        try:
            with self.connection() as connection, transaction(connection):
                connection.execute(tables + UPKEEP)
        except BaseException:
            self.detach()
            delete(self.path)
            raise

    def detach(self) -> None:
        """Close the file; what its log has is written into it."""
        if self._inode is not None:
            self._inode = None
            with contextlib.suppress(Error), self._duckdb.cursor() as connection:
                connection.execute(f"DETACH {self.catalog}")

    @property
    def is_there(self) -> bool:
        """Whether the file on disk is still the one that was opened."""
        with contextlib.suppress(OSError):
            return self.path.stat().st_ino == self._inode
        return False

    def connection(self) -> DuckDBPyConnection:
        """A connection that sees this file's tables under their own names. Close it after use."""
        connection = self._duckdb.cursor()
        connection.execute(f"USE {self.catalog}")
        return connection

    @property
    def new(self) -> DatabaseFile:
        """The file that a copy is written into."""
        return DatabaseFile(self._duckdb, beside(self.path, NEW), f"{self._name}{NEW}")

    def copy(self, copying: DuckDBPyConnection) -> Path:
        """Write a copy of the file as it is now, without the bytes of rows that were deleted.

        Returns where it is. Raises duckdb.Error, and then nothing is left of it.
        """
        copy = self.new
        delete(copy.path)
        try:
            copy.attach()
            copying.execute(f"COPY FROM DATABASE {self.catalog} TO {copy.catalog}")
            copying.execute(f"UPDATE {copy.catalog}.upkeep SET forgotten = 0, expired_at = NULL")
        except BaseException:
            copy.detach()
            delete(copy.path)
            raise
        copy.detach()
        return copy.path

    def read_all(self, tables: str) -> None:
        """Read all that the file has in these tables. Raises duckdb.Error where some of it is damaged."""
        with self.connection() as connection:
            for table in tables_in(tables + UPKEEP):
                connection.execute(f"SELECT bit_xor(hash(rows)) FROM {table} AS rows").fetchall()


def beside(path: Path, suffix: str) -> Path:
    """The file that belongs to another one and has its name with this suffix."""
    return path.with_name(path.name + suffix)


def delete(path: Path) -> None:
    """Delete a file with its log, if it is there."""
    # The file last: by it the rest is found again if this is interrupted.
    for file in (beside(path, ".wal"), path):
        file.unlink(missing_ok=True)


def move(path: Path, to: Path) -> None:
    """Move a file with its log, as far as it is there."""
    for suffix in (".wal", ""):
        with contextlib.suppress(FileNotFoundError):
            beside(path, suffix).replace(beside(to, suffix))


def _quoted(path: Path) -> str:
    text = str(path).replace("'", "''")
    return f"'{text}'"
