"""The folder of all files of columns, which are opened in one DuckDB instance with bounds for all of them."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import duckdb

from backend.domain.ids import OrgId
from backend.storage.analytics.messages import FILES, KEPT_UP, SPILLS, org_ids_in
from backend.storage.columns.tables.column_files import (
    SUFFIX,
    ColumnFiles,
    Copies,
    delete_all,
    main_path,
    move_all,
    paths_of,
)
from backend.storage.columns.tables.database_files import FORMER, NEW, beside
from backend.system.private_folder import private_folder

# Bytes that must be left on the disk besides for files to be made anew.
_LEAST_ROOM = 16_000_000
_FORMER_KEPT = timedelta(minutes=30)
_LONGEST_UNUSED = timedelta(days=30)
# What an organization's id may be made of, as names of files begin with it.
_NAME = re.compile(r"[A-Za-z0-9-]{1,64}", re.ASCII)


@dataclass(frozen=True, slots=True)
class EngineBounds:
    """How much of the machine questions may take: memory in MB, and threads."""

    memory_mb: int = 160
    threads: int = 2


class ColumnStore:
    """The files of a folder, opened when they are needed. One process has the folder at a time."""

    def __init__(self, folder: Path, bounds: EngineBounds) -> None:
        private_folder(folder)
        self.folder = folder
        # Files that are answers. Files of a process that was killed are removed.
        self.files = folder / FILES
        shutil.rmtree(self.files, ignore_errors=True)
        private_folder(self.files)
        self._spills = folder / SPILLS
        shutil.rmtree(self._spills, ignore_errors=True)
        for unfinished in folder.glob(f"*{SUFFIX}{NEW}*"):
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

    def name_of(self, org_id: OrgId, error: str) -> str:
        """The organization's file that the text of an error names, or else a pattern of all of them."""
        named = re.search(rf"{org_id}[.a-z0-9-]*{SUFFIX}", error)
        return named[0] if named else f"{org_id}.*{SUFFIX[1:]}"

    def attach(self, org_id: OrgId, now: datetime) -> ColumnFiles:
        """Open the organization's files. If one is missing, or they have another format, all are made anew.

        So are files that nobody has used for long, since the feed tells of erasures for some months only.
        Raises duckdb.Error and OSError where they can't be opened, and leaves them as they are.
        """
        path = self._path(org_id)
        if not path.exists() and beside(path, FORMER).exists():
            move_all(self.folder, org_id, FORMER, "")  # who moved them has ended
        if path.exists() and now.timestamp() - path.stat().st_mtime > _LONGEST_UNUSED.total_seconds():
            delete_all(self.folder, org_id)
        files = ColumnFiles(self._duckdb, org_id, self.folder)
        files.attach()
        return files

    def make_anew(self, org_id: OrgId) -> ColumnFiles:
        """Open new files in the place of those that are of no use, which are kept beside them until
        `drop_former`.

        Raises duckdb.Error and OSError where that can't be, as on a disk without room. Then nothing changes.
        """
        path = self._path(org_id)
        size = sum(file.stat().st_size for file in paths_of(self.folder, org_id) if file.exists())
        if shutil.disk_usage(self.folder).free < size + _LEAST_ROOM:
            raise OSError(errno.ENOSPC, "there is no room to make the file anew", str(path))
        self.drop_former(org_id)
        move_all(self.folder, org_id, "", FORMER)
        files = ColumnFiles(self._duckdb, org_id, self.folder)
        try:
            files.attach()
        except BaseException:
            delete_all(self.folder, org_id)
            move_all(self.folder, org_id, FORMER, "")
            raise
        return files

    def drop_old_formers(self, now: datetime) -> bool:
        """Delete what is kept for long: it may have data about people who were erased since then.

        Returns whether none is kept any more.
        """
        is_kept = False
        for path in self.folder.glob(f"*{SUFFIX}{FORMER}*"):
            if now.timestamp() - path.stat().st_ctime > _FORMER_KEPT.total_seconds():
                path.unlink()
            else:
                is_kept = True
        return not is_kept

    def has(self, org_id: OrgId) -> bool:
        """Whether the organization has files, or some that were moved aside."""
        return any(paths_of(self.folder, org_id, suffix) for suffix in ("", FORMER))

    def note_kept_up(self, at: datetime) -> None:
        """Note that no file has bytes of what was deleted about people until then."""
        note = self.folder / KEPT_UP
        note.touch()
        os.utime(note, (at.timestamp(), at.timestamp()))

    def drop_former(self, org_id: OrgId) -> None:
        """Delete what was kept of files that were made anew."""
        delete_all(self.folder, org_id, FORMER)

    def delete(self, org_id: OrgId) -> None:
        """Delete the organization's files, which are not open."""
        for suffix in ("", FORMER, NEW):
            delete_all(self.folder, org_id, suffix)

    def copy(self, files: ColumnFiles, now: datetime) -> Copies:
        """Copies of those of the files that have bytes of rows that were deleted, without them.

        Whoever gets them puts them in their places (`put_in_place`), or deletes them (`discard`). Else as
        ColumnFiles.copy, which `stop_copying` ends.
        """
        with self._duckdb.cursor() as self._copying:
            return files.copy(now, self._copying)

    def stop_copying(self) -> None:
        """Have a copy that is made just now fail soon."""
        if self._copying:
            with contextlib.suppress(duckdb.Error):  # it may have come to its end
                self._copying.interrupt()

    def _path(self, org_id: OrgId) -> Path:
        if not _NAME.fullmatch(org_id):
            raise ValueError("not an organization's id")
        return main_path(self.folder, org_id)
