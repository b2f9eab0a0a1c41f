"""The process that makes one archive of an organization: it exports it, and stores the file's pieces.

It is a process of its own, of low priority, so that redirects come first. Its line on stdin is a
`MakingStart` as JSON, and it prints a `MakingResult`, and empty lines while it comes further. It ends when
its stdin is closed, and so with whoever started it.
"""

from __future__ import annotations

import asyncio
import gc
import hashlib
import json
import os
import signal
import sys
import threading
import time
from contextlib import aclosing
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import count

from backend.archives.checking import read_back
from backend.archives.export import ArchivePiece, archive_pieces
from backend.domain.archives.archive import DiskNearlyFull, Making
from backend.domain.errors import OperatorError
from backend.domain.ids import OrgId
from backend.storage.archives.archives import note_progress
from backend.storage.archives.pieces import PieceMissing, StoredFile, add_piece, delete_pieces
from backend.storage.driver.answers import when_answered
from backend.storage.driver.connection import connect
from backend.storage.driver.disk import read_disk
from backend.storage.driver.mongo import Database, StorageError, is_unreachable, server_time
from backend.system.niceness import give_way

_NICENESS = 5  # redirects come first; with more it would outlast the past that MongoDB keeps
_MONGODB_SECONDS = 120.0
_PIECES_PER_LOOK = 64  # between two looks at MongoDB's disk
# Documents come and go, and leave no circles to look for.
_OBJECTS_BETWEEN_COLLECTIONS = 50_000


@dataclass(frozen=True, slots=True)
class MakingStart:
    """What the process needs: the database, and the attempt at an archive. `expires_at` is ISO 8601."""

    uri: str
    database: str
    org_id: OrgId
    archive_id: str
    making_id: str
    expires_at: str

    @property
    def making(self) -> Making:
        """The attempt."""
        return Making(self.org_id, self.archive_id, self.making_id)


@dataclass(frozen=True, slots=True)
class MakingResult:
    """How the attempt ended: with a whole file, whose size and SHA-256 these are, or with an error.

    `is_over`: nothing is to be noted any more, since the archive was deleted, or another attempt was begun.
    `is_away`: MongoDB could not be reached, and the archive is to be begun again.
    """

    size: int = 0
    sha256: str = ""
    error: str = ""
    is_over: bool = False
    is_away: bool = False


class _Over(Exception):
    """The archive was deleted, or another attempt to make it was begun."""


async def _make(start: MakingStart) -> MakingResult:
    async with connect(start.uri, start.database, _MONGODB_SECONDS) as database:
        try:
            return await _store(database, start)
        except _Over:
            await delete_pieces(database, start.org_id, start.archive_id, start.making_id)
            return MakingResult(is_over=True)
        except (OperatorError, DiskNearlyFull) as error:
            return MakingResult(error=str(error))
        except StorageError as error:
            if not is_unreachable(error):
                raise
            return MakingResult(is_away=True)


async def _store(database: Database, start: MakingStart) -> MakingResult:
    digest, size, numbers = hashlib.sha256(), 0, count()
    async with aclosing(archive_pieces(database, start.org_id, with_credentials=False)) as pieces:
        async for piece in pieces:
            await _store_piece(database, start, next(numbers), piece)
            digest.update(piece.data)
            size += len(piece.data)
    try:
        await read_back(database, StoredFile(database, start.making, size), await server_time(database))
    except PieceMissing:
        raise _Over from None
    return MakingResult(size, digest.hexdigest())


async def _store_piece(database: Database, start: MakingStart, number: int, piece: ArchivePiece) -> None:
    if number % _PIECES_PER_LOOK == 0 and (disk := await read_disk(database)) and disk.is_nearly_full:
        raise DiskNearlyFull(disk.free)
    expires_at = datetime.fromisoformat(start.expires_at)
    await add_piece(database, start.making, number, piece.data, expires_at)
    if not await note_progress(database, start.making, piece.total, piece.counts):
        raise _Over


class _Progress:
    """Prints an empty line while the process comes further, at most one each second."""

    def __init__(self) -> None:
        self._told_at = 0.0

    def tell(self) -> None:
        """It has come further."""
        if (now := time.monotonic()) > self._told_at + 1:
            self._told_at = now
            os.write(sys.stdout.fileno(), b"\n")


def _end_with_starter() -> None:
    """End this process once its stdin is closed."""
    # Not by sys.stdin: its lock would be held when the process ends in order.
    os.read(0, 1)
    os._exit(1)


def main() -> None:
    """Make the archive that stdin names."""
    # What stops a whole group of processes is for the service, which ends this one in order.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    start = MakingStart(**json.loads(sys.stdin.readline()))
    threading.Thread(target=_end_with_starter, daemon=True).start()
    when_answered(_Progress().tell)
    give_way(_NICENESS)
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    print(json.dumps(asdict(asyncio.run(_make(start)))))


if __name__ == "__main__":
    main()
