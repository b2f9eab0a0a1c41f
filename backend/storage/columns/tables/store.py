"""Files of columns: one for each organization, opened in one DuckDB instance with bounds for all of them."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import re
import shutil
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import duckdb

from backend.domain.ids import OrgId
from backend.storage.analytics.messages import FILES, KEPT_UP, SPILLS, org_ids_in
from backend.storage.columns.tables.moments import Moments
from backend.storage.columns.tables.schema import FORMAT, TABLES
from backend.system.private_folder import private_folder

SUFFIX = ".duckdb"
# What is kept of a file that was made anew, and a file that is being written.
_FORMER, _NEW = ".former", ".new"
# Bytes that must be left on the disk besides for a file to be made anew.
_LEAST_ROOM = 16_000_000
_FORMER_KEPT = timedelta(minutes=30)
_LONGEST_UNUSED = timedelta(days=30)
# What an organization's id may be made of, as it becomes the name of a file.
_NAME = re.compile(r"[A-Za-z0-9-]{1,64}", re.ASCII)
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class EngineBounds:
    """How much of the machine questions may take: memory in MB, and threads."""

    memory_mb: int = 160
    threads: int = 2


class ColumnStore:
    """The files of a folder, each opened when it is needed. One process has the folder at a time."""

    def __init__(self, folder: Path, bounds: EngineBounds) -> None:
        private_folder(folder)
        self.folder = folder
        # Files that are answers. Files of a process that was killed are removed.
        self.files = folder / FILES
        shutil.rmtree(self.files, ignore_errors=True)
        private_folder(self.files)
        self._spills = folder / SPILLS
        shutil.rmtree(self._spills, ignore_errors=True)
        for unfinished in folder.glob(f"*{SUFFIX}{_NEW}*"):
            unfinished.unlink()
        for log in folder.glob("*.wal"):
            if not log.with_suffix("").exists():  # it was deleted, or moved aside, by halves
                log.unlink()
        self._duckdb = duckdb.connect(
            ":memory:",
            config={
                "memory_limit": f"{bounds.memory_mb}MB",
                "threads": bounds.threads,
                "temp_directory": str(self._spills),
                # Nothing is fetched or looked for on this machine.
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
            },
        )

        self._copying: duckdb.DuckDBPyConnection | None = None

    def close(self) -> None:
        """Close all files."""
        self._duckdb.close()

    def org_ids(self) -> list[OrgId]:
        """The organizations that have a file, or one that was moved aside."""
        return org_ids_in(self.folder)

    def spilled(self) -> frozenset[tuple[str, int]]:
        """Files with what does not fit into memory, each by its name and number on the disk."""
        spilled = set()
        for path in self._spills.glob("*"):
            with contextlib.suppress(FileNotFoundError):  # DuckDB deletes them as they become empty
                found = path.stat()
                if found.st_size:
                    spilled.add((path.name, found.st_ino))
        return frozenset(spilled)

    def name_of(self, org_id: OrgId) -> str:
        """The name of the organization's file."""
        return self._path(org_id).name

    def attach(self, org_id: OrgId, now: datetime) -> ColumnFile:
        """Open the organization's file. One that is missing or of another format is made anew.

        So is a file that nobody has used for long, since the feed tells of erasures for some months only.
        Raises duckdb.Error and OSError where it can't be opened, and leaves it as it is.
        """
        path = self._path(org_id)
        if not path.exists() and (former := _beside(path, _FORMER)).exists():
            _move(former, path)  # who moved it has ended
        if path.exists() and now.timestamp() - path.stat().st_mtime > _LONGEST_UNUSED.total_seconds():
            _delete(path)
        file = ColumnFile(self._duckdb, org_id, path)
        file.attach()
        return file

    def make_anew(self, org_id: OrgId) -> ColumnFile:
        """Open a new file in the place of one that is of no use, which is kept beside it until `drop_former`.

        Raises duckdb.Error and OSError where that can't be, as on a disk without room. Then nothing changes.
        """
        path = self._path(org_id)
        former = _beside(path, _FORMER)
        size = path.stat().st_size if path.exists() else 0
        if shutil.disk_usage(self.folder).free < size + _LEAST_ROOM:
            raise OSError(errno.ENOSPC, "there is no room to make the file anew", str(path))
        _delete(former)
        _move(path, former)
        file = ColumnFile(self._duckdb, org_id, path)
        try:
            file.attach()
        except BaseException:
            _delete(path)
            _move(former, path)
            raise
        return file

    def drop_old_formers(self, now: datetime) -> bool:
        """Delete what is kept for long: it may have data about people who were erased since then.

        Returns whether none is kept any more.
        """
        is_kept = False
        for path in self.folder.glob(f"*{SUFFIX}{_FORMER}*"):
            if now.timestamp() - path.stat().st_ctime > _FORMER_KEPT.total_seconds():
                path.unlink()
            else:
                is_kept = True
        return not is_kept

    def has(self, org_id: OrgId) -> bool:
        """Whether the organization has a file, or one that was moved aside."""
        path = self._path(org_id)
        return path.exists() or _beside(path, _FORMER).exists()

    def note_kept_up(self, at: datetime) -> None:
        """Note that no file has bytes of what was deleted about people until then."""
        note = self.folder / KEPT_UP
        note.touch()
        os.utime(note, (at.timestamp(), at.timestamp()))

    def drop_former(self, org_id: OrgId) -> None:
        """Delete what was kept of a file that was made anew."""
        _delete(_beside(self._path(org_id), _FORMER))

    def delete(self, org_id: OrgId) -> None:
        """Delete the organization's file, which is not open."""
        for suffix in ("", _FORMER, _NEW):
            _delete(_beside(self._path(org_id), suffix))

    def copy(self, file: ColumnFile) -> ColumnFile:
        """A copy of the file as it is now, without the bytes of rows that were deleted. It is closed.

        Others may use the file meanwhile, also to write. Whoever gets the copy puts it in the file's place
        (`replace`), or deletes it (`discard`). Raises duckdb.Error, and then nothing is left of it.
        """
        path = _beside(file.path, _NEW)
        copy = ColumnFile(self._duckdb, file.org_id, path, catalog=f"{file.org_id}{_NEW}")
        _delete(path)
        try:
            copy.attach_as_it_is()
            with self._duckdb.cursor() as self._copying:
                copy.fill_from(file, self._copying)
            copy.close()
        except BaseException:
            copy.close()
            _delete(path)
            raise
        return copy

    def stop_copying(self) -> None:
        """Have a copy that is made just now fail soon."""
        if self._copying:
            with contextlib.suppress(duckdb.Error):  # it may have come to its end
                self._copying.interrupt()

    def replace(self, file: ColumnFile, copy: ColumnFile) -> None:
        """Put the copy in the place of the file. Both are closed."""
        _beside(file.path, ".wal").unlink(missing_ok=True)
        copy.path.replace(file.path)
        with contextlib.suppress(FileNotFoundError):
            _beside(copy.path, ".wal").replace(_beside(file.path, ".wal"))

    def discard(self, copy: ColumnFile) -> None:
        """Delete the copy, which is closed."""
        _delete(copy.path)

    def _path(self, org_id: OrgId) -> Path:
        if not _NAME.fullmatch(org_id):
            raise ValueError("not an organization's id")
        return self.folder / f"{org_id}{SUFFIX}"


class ColumnFile:
    """The file of an organization. Once it is attached, it is open until it is closed."""

    def __init__(
        self, instance: duckdb.DuckDBPyConnection, org_id: OrgId, path: Path, catalog: str | None = None
    ) -> None:
        self.org_id = org_id
        self.path = path
        self._duckdb = instance
        self._catalog = f'"{org_id if catalog is None else catalog}"'
        self._inode: int | None = None
        self.moments = Moments(self.connection)

    def attach(self) -> None:
        """Open the file. One that is missing, or of another format, is made anew."""
        is_new = not self.path.exists()
        try:
            self.attach_as_it_is()
        except BaseException:
            if is_new:  # a full disk has let it be begun
                _delete(self.path)
            raise
        try:
            if not is_new and self._format() != FORMAT:
                _logger.warning("The columns in %s are made anew: they have another format", self.path.name)
                self._detach()
                _delete(self.path)
                self.attach_as_it_is()
                is_new = True
            if is_new:
                self._make_tables()
        except BaseException:
            self._detach()
            if is_new:
                _delete(self.path)
            raise

    def attach_as_it_is(self) -> None:
        """Open the file as it is, also where it is empty."""
        with self._duckdb.cursor() as connection:
            connection.execute(f"ATTACH {_quoted(self.path)} AS {self._catalog}")
        self._inode = self.path.stat().st_ino

    def fill_from(self, file: ColumnFile, copying: duckdb.DuckDBPyConnection) -> None:
        """Write all that another file has as of now into this one, which is empty, by a connection."""
        copying.execute(f"COPY FROM DATABASE {file._catalog} TO {self._catalog}")
        with self.connection() as connection:
            connection.execute("UPDATE state SET forgotten = 0, expired_at = NULL")

    def close(self) -> None:
        """Close the file; what its log has is written into it."""
        self.moments.close()
        self._detach()

    @property
    def is_there(self) -> bool:
        """Whether the file on disk is still the one that was opened."""
        with contextlib.suppress(OSError):
            return self.path.stat().st_ino == self._inode
        return False

    def connection(self) -> duckdb.DuckDBPyConnection:
        """A connection that sees this file's tables only under their own names. Close it after use."""
        connection = self._duckdb.cursor()
        connection.execute(f"USE {self._catalog}")
        return connection

    def read_all(self) -> None:
        """Read all that the file has. Raises duckdb.Error where some of it is damaged."""
        with self.connection() as connection:
            tables = connection.execute(
                "SELECT table_name FROM duckdb_tables() WHERE database_name = current_database()"
            ).fetchall()
            for (table,) in tables:
                connection.execute(f"SELECT bit_xor(hash(rows)) FROM {table} AS rows").fetchall()  # noqa: S608

    def _detach(self) -> None:
        with contextlib.suppress(duckdb.Error), self._duckdb.cursor() as connection:
            connection.execute(f"DETACH {self._catalog}")

    def _format(self) -> int | None:
        with self._duckdb.cursor() as connection:
            try:
                row = connection.execute(f"SELECT format FROM {self._catalog}.state").fetchone()  # noqa: S608
            except duckdb.CatalogException:
                return None
        return row[0] if row else None

    def _make_tables(self) -> None:
        with self.connection() as connection:
            connection.execute("BEGIN TRANSACTION")
            connection.execute(TABLES)
            connection.execute("COMMIT")


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _delete(path: Path) -> None:
    # The file last: by it the rest is found again if this is interrupted.
    for file in (_beside(path, ".wal"), path):
        file.unlink(missing_ok=True)


def _move(path: Path, to: Path) -> None:
    """Move a file with its log."""
    for suffix in (".wal", ""):
        with contextlib.suppress(FileNotFoundError):
            _beside(path, suffix).replace(_beside(to, suffix))


def _quoted(path: Path) -> str:
    text = str(path).replace("'", "''")
    return f"'{text}'"
