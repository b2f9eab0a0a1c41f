"""Checks the disks: whether clicks can be kept on them, and for how many there is room."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile
from threading import Thread

from backend.domain.finding import Area, Finding, Findings
from backend.storage.driver.disk import LITTLE_SPACE, Disk

# Bytes that a click takes while it waits in a click log; and in MongoDB, with indexes and the feed: of busy
# links, and of links with fifty clicks in thirty days. Measured: benchmarks/RESULTS.md.
WAITING_BYTES = 180
STORED_BYTES = (14, 23)
_TEST_FILE_BYTES = 65_536  # more than file systems keep beside the name of a file
_SECONDS = 10.0
_FULL = {errno.ENOSPC, errno.EDQUOT}
_configuration, _storage = Findings(Area.CONFIGURATION), Findings(Area.STORAGE)


def examine_folder(folder: Path) -> Finding:
    """Whether clicks can be kept in this folder: a file is written there, read again and deleted."""
    nearest = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    failures: list[OSError] = [TimeoutError(errno.ETIMEDOUT, f"no answer for {_SECONDS:g} s")]
    # Beside this thread, since a disk may hang for ever.
    trying = Thread(target=lambda: failures.__setitem__(slice(None), _try(nearest)), daemon=True)
    trying.start()
    trying.join(_SECONDS)
    if failures:
        return _about_failure(folder, failures[0])
    disk = os.statvfs(nearest)
    free = disk.f_bavail * disk.f_frsize
    message = (
        f"{folder} can be written. {_gigabytes(free)} are left: room for {_rounded(free / WAITING_BYTES)} "
        f"clicks that wait, at {WAITING_BYTES} bytes each."
    )
    if free < LITTLE_SPACE:
        return _configuration.warning(
            "WAYLINK_DATA_DIR", message, "Make room: clicks wait there while MongoDB is away."
        )
    return _configuration.ok("WAYLINK_DATA_DIR", message)


def examine_owners(folder: Path) -> Iterator[Finding]:
    """The files in the folder of data that belong to somebody else, such as to root who once made them."""
    if not folder.is_dir():
        return
    owner = folder.stat().st_uid
    others = [path for path, uid in _owned(folder) if uid != owner]
    if others:
        yield _configuration.warning(
            "WAYLINK_DATA_DIR",
            f"{len(others):,} files in {folder} belong to another user than the folder, such as {others[0]}: "
            "the service may be unable to read them.",
            f"chown -R --reference={folder} {folder}",
        )


def examine_mongodb_disk(disk: Disk) -> Finding:
    """For how many clicks there is room on MongoDB's disk."""
    many, few = (_rounded(disk.free / size) for size in STORED_BYTES)
    message = (
        f"The disk of the member that answers has {_gigabytes(disk.free)} of {_gigabytes(disk.total)} left: "
        f"room for {few} to {many} clicks, at {STORED_BYTES[1]} to {STORED_BYTES[0]} bytes each."
    )
    if disk.is_nearly_full:
        return _storage.warning("MongoDB's disk", message, "Make room, or let clicks expire earlier.")
    return _storage.ok("MongoDB's disk", message)


def _owned(folder: Path) -> Iterator[tuple[Path, int]]:
    """Everything below the folder, with its owner. Files come and go meanwhile."""
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            with contextlib.suppress(OSError):
                yield Path(place, name), Path(place, name).lstat().st_uid


def _try(folder: Path) -> list[OSError]:
    """What keeps a file from being written in the folder, if anything does."""
    written = os.urandom(_TEST_FILE_BYTES)
    try:
        with TemporaryFile(dir=folder, prefix=".doctor-") as file:
            file.write(written)
            file.flush()
            os.fsync(file.fileno())
            file.seek(0)
            if file.read() != written:
                raise OSError(errno.EIO, "what is read is not what was written")
    except OSError as error:
        return [error]
    return []


def _about_failure(folder: Path, failure: OSError) -> Finding:
    advice = "Give the folder to the user that runs the service, or name another one."
    if failure.errno in _FULL:
        advice = "Make room on its disk, or name a folder on another one."
    elif failure.errno in {errno.EIO, errno.ETIMEDOUT, errno.EROFS}:
        advice = "Look at the disk and at the system's log, or name a folder on another disk."
    return _configuration.error(
        "WAYLINK_DATA_DIR",
        f"No file can be written in {folder} ({failure.strerror}): clicks are lost while MongoDB is away.",
        advice,
    )


def _gigabytes(size: float) -> str:
    return f"{size / 1e9:,.1f} GB"


def _rounded(number: float) -> str:
    return f"{number / 1e6:,.0f} million" if number >= 1e7 else f"{number:,.0f}"
