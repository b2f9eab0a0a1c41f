"""Files of columns: one for each organization, opened in one DuckDB instance with bounds for all of them."""

from __future__ import annotations

import contextlib
import logging
import re
import shutil
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import duckdb

from backend.domain.ids import OrgId
from backend.storage.columns.tables.moments import Moments
from backend.storage.columns.tables.schema import FORMAT, TABLES
from backend.system.private_folder import private_folder

SUFFIX = ".duckdb"
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
        self._folder = folder
        # Files that are answers. Files of a process that was killed are removed.
        self.files = folder / "files"
        shutil.rmtree(self.files, ignore_errors=True)
        private_folder(self.files)
        spills = folder / "spills"
        self._duckdb = duckdb.connect(
            ":memory:",
            config={
                "memory_limit": f"{bounds.memory_mb}MB",
                "threads": bounds.threads,
                "temp_directory": str(spills),
                # Nothing is fetched or looked for on this machine.
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
            },
        )

    def close(self) -> None:
        """Close all files."""
        self._duckdb.close()

    def org_ids(self) -> list[OrgId]:
        """The organizations that have a file."""
        return [OrgId(path.stem) for path in sorted(self._folder.glob(f"*{SUFFIX}"))]

    def attach(self, org_id: OrgId, now: datetime) -> ColumnFile:
        """Open the organization's file. One that is missing, damaged or of another format is made anew.

        So is a file that nobody has used for long, since the feed tells of erasures for some months only.
        """
        path = self._path(org_id)
        if path.exists() and now.timestamp() - path.stat().st_mtime > _LONGEST_UNUSED.total_seconds():
            _delete(path)
        file = ColumnFile(self._duckdb, org_id, path)
        file.attach()
        return file

    def delete(self, org_id: OrgId) -> None:
        """Delete the organization's file, which is not open."""
        _delete(self._path(org_id))

    def rewrite(self, org_id: OrgId) -> None:
        """Write the file, which is not open, anew: then no bytes are left of rows that were deleted."""
        path = self._path(org_id)
        new = path.with_name(f"{path.name}.new")
        _delete(new)
        for file, name in ((path, "former"), (new, "rewritten")):
            self._duckdb.execute(f"ATTACH {_quoted(file)} AS {name}")
        try:
            self._duckdb.execute("COPY FROM DATABASE former TO rewritten")
            self._duckdb.execute("UPDATE rewritten.state SET forgotten = 0")
        finally:
            for name in ("former", "rewritten"):
                self._duckdb.execute(f"DETACH {name}")
        new.replace(path)

    def _path(self, org_id: OrgId) -> Path:
        if not _NAME.fullmatch(org_id):
            raise ValueError("not an organization's id")
        return self._folder / f"{org_id}{SUFFIX}"


class ColumnFile:
    """The open file of an organization."""

    def __init__(self, instance: duckdb.DuckDBPyConnection, org_id: OrgId, path: Path) -> None:
        self.path = path
        self._duckdb = instance
        self._catalog = f'"{org_id}"'
        self._inode: int | None = None
        self.moments = Moments(self.connection)

    def attach(self) -> None:
        """Open the file, or make it anew."""
        if not (self.path.exists() and self._is_attached()):
            self._attach()
            self._make_tables()
        self._inode = self.path.stat().st_ino

    def _is_attached(self) -> bool:
        """Open what is there. What can't be used is deleted: a file that is damaged, or of another format."""
        try:
            self._attach()
            if self._format() != FORMAT:
                raise duckdb.CatalogException("it has another format")
        except duckdb.Error as error:
            self._detach()
            if isinstance(error, duckdb.OutOfMemoryException) or _is_disk_full(error):
                raise
            _logger.warning("The columns in %s are made anew: %s", self.path.name, error)
            _delete(self.path)
            return False
        return True

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

    def _attach(self) -> None:
        self._duckdb.execute(f"ATTACH {_quoted(self.path)} AS {self._catalog}")

    def _detach(self) -> None:
        with contextlib.suppress(duckdb.Error):
            self._duckdb.execute(f"DETACH {self._catalog}")

    def _format(self) -> int | None:
        row = self._duckdb.execute(f"SELECT format FROM {self._catalog}.state").fetchone()  # noqa: S608 - an id
        return row[0] if row else None

    def _make_tables(self) -> None:
        connection = self.connection()
        try:
            connection.execute("BEGIN TRANSACTION")
            connection.execute(TABLES)
            connection.execute("INSERT INTO state VALUES ($1, 0, false, 0)", [FORMAT])
            connection.execute("COMMIT")
        finally:
            connection.close()


def _delete(path: Path) -> None:
    for file in (path, path.with_name(path.name + ".wal")):
        file.unlink(missing_ok=True)


def _quoted(path: Path) -> str:
    text = str(path).replace("'", "''")
    return f"'{text}'"


def _is_disk_full(error: duckdb.Error) -> bool:
    return "No space left" in str(error)
