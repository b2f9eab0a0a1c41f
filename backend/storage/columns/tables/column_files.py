"""The files of columns of an organization.

The first file has everything but clicks, and how far all of them have come. Clicks have files of their own,
each from the first day of a month on. So what is deleted is in a small file, or in that of some months.
"""

# ruff: noqa: S608 - names of catalogues and tables are our own

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

from duckdb import CatalogException, DuckDBPyConnection

from backend.domain.feed.cursor import Cursor
from backend.domain.ids import OrgId
from backend.storage.columns.tables.database_files import DatabaseFile, beside, delete, move
from backend.storage.columns.tables.forgetting import is_to_be_rewritten
from backend.storage.columns.tables.moments import Moments
from backend.storage.columns.tables.schema import CLICK_TABLES, FORMAT, TABLES
from backend.storage.columns.tables.state import note_cursor, read_numbering, read_state
from backend.storage.columns.tables.transactions import transaction
from backend.storage.columns.tables.written_columns import WrittenColumns, show_clicks

SUFFIX = ".duckdb"
# With so many clicks, a file gets none of the months that come then. With fewer, questions would read a year
# of a large organization from many more files, each of which takes them a millisecond.
_CLICKS_OF_FILE = 1_000_000
_EPOCH = date(1970, 1, 1).toordinal()
_logger = logging.getLogger(__name__)


class Copies(NamedTuple):
    """Copies of files, to be put in their places. The files have what was before `cursor` in the feed."""

    paths: Sequence[Path]
    cursor: Cursor
    numbering: str


class ColumnFiles:
    """The files of an organization. Once they are attached, they are open until they are closed."""

    def __init__(self, instance: DuckDBPyConnection, org_id: OrgId, folder: Path) -> None:
        self.org_id = org_id
        self._duckdb = instance
        self._folder = folder
        self._main = DatabaseFile(instance, main_path(folder, org_id), org_id)
        self._clicks: Mapping[int, DatabaseFile] = {}  # by their first days, in their order
        self.moments = Moments(self.connection)

    @property
    def name(self) -> str:
        """The name of the first file."""
        return self._main.path.name

    def attach(self) -> None:
        """Open the files. If one is missing, or they have another format, all are made anew."""
        is_new = not self._main.path.exists()
        try:
            if not is_new:
                self._main.attach()
                is_new = not self._attach_clicks()
            if is_new:
                self._make()
        except BaseException:
            self._detach()
            if is_new:
                delete_all(self._folder, self.org_id)
            raise

    def close(self) -> None:
        """Close the files; what their logs have is written into them."""
        self.moments.close()
        self._detach()

    @property
    def is_there(self) -> bool:
        """Whether the files on disk are still those that were opened."""
        return all(file.is_there for file in self._files)

    def connection(self) -> DuckDBPyConnection:
        """A connection that sees the tables of these files only under their own names. Close it after use."""
        connection = self._main.connection()
        show_clicks(connection, self._click_catalogs())
        return connection

    def written(self) -> WrittenColumns:
        """The tables for the one who writes to them."""
        connection = self.connection()
        return WrittenColumns(
            connection, self._main.catalog, partial(self._clicks_of, connection), self._click_catalogs
        )

    def read_all(self) -> None:
        """Read all that the files have. Raises duckdb.Error where some of it is damaged."""
        self._main.read_all(TABLES)
        for file in self._clicks.values():
            file.read_all(CLICK_TABLES)

    def is_to_be_rewritten(self, now: datetime) -> bool:
        """Whether a file may have bytes of what was deleted."""
        return bool(self._to_be_rewritten(now))

    def copy(self, now: datetime, copying: DuckDBPyConnection) -> Copies:
        """Copies of those files that have bytes of what was deleted, without them.

        Others may use the files meanwhile, also to write. Raises duckdb.Error, and then nothing is left.
        """
        with self._main.connection() as connection:
            cursor, numbering = read_state(connection).cursor, read_numbering(connection)
        paths: list[Path] = []
        try:
            for file in self._to_be_rewritten(now):
                paths.append(file.copy(copying))
        except BaseException:
            discard(paths)
            raise
        return Copies(paths, cursor, numbering)

    def go_back_for(self, copies: Copies) -> bool:
        """Have the feed read again from where it was when the copies were made, as they take their places.

        A copy of the first file gets the links' numbers that were given since then. Nobody may write
        meanwhile. Returns False if the copies are not of these files any more.
        """
        with self._main.connection() as connection:
            if read_numbering(connection) != copies.numbering:
                return False
            copy = self._main.new
            if copy.path in copies.paths:
                copy.attach()
                try:
                    self._complete(copy, copies.cursor)
                finally:
                    copy.detach()
            note_cursor(connection, copies.cursor)
        return True

    def _complete(self, copy: DatabaseFile, cursor: Cursor) -> None:
        """Give a copy of the first file what files of clicks refer to, or what names them."""
        main = self._main.catalog
        with copy.connection() as connection, transaction(connection):
            connection.execute(
                "INSERT INTO links (link, id, is_kept) SELECT link, id, false "
                f"FROM {main}.links ANTI JOIN links AS known USING (link)"
            )
            connection.execute(f"INSERT INTO click_files FROM {main}.click_files EXCEPT FROM click_files")
            note_cursor(connection, cursor)

    @property
    def _files(self) -> Sequence[DatabaseFile]:
        return self._main, *self._clicks.values()

    def _to_be_rewritten(self, now: datetime) -> list[DatabaseFile]:
        with self._main.connection() as connection:
            return [file for file in self._files if is_to_be_rewritten(connection, file.catalog, now)]

    def _attach_clicks(self) -> bool:
        """Attach the files of clicks that belong to the first file. Returns whether all can be used."""
        with self._main.connection() as connection:
            if not self._has_format(connection):
                _logger.warning("The columns in %s are made anew: they have another format", self.name)
                return False
            listed = connection.execute("SELECT first_day FROM click_files ORDER BY first_day").fetchall()
        self._clicks = {first_day: self._click_file(first_day) for (first_day,) in listed}
        if missing := [file.path.name for file in self._clicks.values() if not file.path.exists()]:
            _logger.warning("The columns in %s are made anew: %s is missing", self.name, missing[0])
            return False
        for file in self._clicks.values():
            file.attach()
        if not self._clicks:
            self._begin(0)
        return True

    def _has_format(self, connection: DuckDBPyConnection) -> bool:
        with suppress(CatalogException):
            return connection.execute("SELECT format FROM state").fetchone() == (FORMAT,)
        return False

    def _make(self) -> None:
        self._detach()
        delete_all(self._folder, self.org_id)
        self._main.attach_new(TABLES)
        self._begin(0)

    def _detach(self) -> None:
        for file in self._files:
            file.detach()
        self._clicks = {}

    def _click_file(self, first_day: int) -> DatabaseFile:
        month = f"-{date.fromordinal(_EPOCH + first_day):%Y-%m}" if first_day else ""
        path = self._folder / f"{self.org_id}.clicks{month}{SUFFIX}"
        return DatabaseFile(self._duckdb, path, f"{self.org_id}.clicks{month}")

    def _begin(self, first_day: int) -> None:
        """Begin a file of clicks. It counts once the first file names it."""
        file = self._click_file(first_day)
        file.attach_new(CLICK_TABLES)
        try:
            with self._main.connection() as connection:
                connection.execute("INSERT INTO click_files VALUES ($day)", {"day": first_day})
        except BaseException:
            file.detach()
            raise
        self._clicks = {**self._clicks, first_day: file}

    def _clicks_of(self, connection: DuckDBPyConnection, day: int) -> str:
        """The catalogue of a day's clicks. Where a month begins, that may be a new one."""
        last = max(self._clicks)
        month = date.fromordinal(_EPOCH + day).replace(day=1).toordinal() - _EPOCH
        if month > last and self._is_full(connection, self._clicks[last], month):
            self._begin(month)
            show_clicks(connection, self._click_catalogs())
        return self._clicks[max((first for first in self._clicks if first <= day), default=0)].catalog

    def _click_catalogs(self) -> list[str]:
        return [file.catalog for file in self._clicks.values()]

    def _is_full(self, connection: DuckDBPyConnection, file: DatabaseFile, month: int) -> bool:
        """Whether this last file has clicks enough, and none of the month yet."""
        query = (
            f"SELECT (SELECT count(*) FROM {file.catalog}.clicks) >= {_CLICKS_OF_FILE} "
            f"AND (SELECT max(day) FROM {file.catalog}.blocks) < $month"
        )
        return connection.execute(query, {"month": month}).fetchone() == (True,)


def main_path(folder: Path, org_id: OrgId) -> Path:
    """Where the first file of an organization is."""
    return folder / f"{org_id}{SUFFIX}"


def paths_of(folder: Path, org_id: OrgId, suffix: str = "") -> list[Path]:
    """The files of an organization of which anything is there: the first one, and then those of clicks."""
    found = {path.name.removesuffix(".wal") for path in folder.glob(f"{org_id}.*")}
    names = sorted((name for name in found if name.endswith(SUFFIX + suffix)), reverse=True)
    return [folder / name for name in names]


def delete_all(folder: Path, org_id: OrgId, suffix: str = "") -> None:
    """Delete the files of an organization, which are not open."""
    for path in reversed(paths_of(folder, org_id, suffix)):
        delete(path)


def move_all(folder: Path, org_id: OrgId, before: str, after: str) -> None:
    """Have the files of an organization end in something else. Who moves them away begins with the first one,
    and who moves them back ends with it: as long as it is not there, the others are not complete."""
    paths = paths_of(folder, org_id, before)
    for path in paths if after else reversed(paths):
        move(path, path.with_name(path.name.removesuffix(before) + after))


def put_in_place(copies: Copies) -> None:
    """Put copies in the place of their files. All are closed."""
    for path in copies.paths:
        file = path.with_suffix("")
        beside(file, ".wal").unlink(missing_ok=True)
        path.replace(file)
        with suppress(FileNotFoundError):
            beside(path, ".wal").replace(beside(file, ".wal"))


def discard(paths: Sequence[Path]) -> None:
    """Delete copies that are not needed."""
    for path in paths:
        delete(path)
