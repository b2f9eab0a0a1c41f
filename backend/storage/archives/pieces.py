"""The `archive_pieces` collection: the files of archives, in pieces of one size.

Every host can hand out every file, and a deleted organization leaves no file on a host that is away
(decisions, "archives").
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import datetime
from io import SEEK_CUR, SEEK_END, SEEK_SET, BufferedReader, RawIOBase
from typing import Any, BinaryIO, Literal

from backend.domain.archives.archive import Making
from backend.domain.ids import OrgId
from backend.storage.driver.blocking import BlockingDatabase
from backend.storage.driver.mongo import Database
from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import (
    BY_ID,
    EXPIRY_INDEX,
    Collection,
    NoRetention,
    NotArchived,
    NotPersonal,
)
from backend.storage.schema.ownership import ByIdPrefix

NAME = "archive_pieces"
# All pieces of a file but the last one have so many bytes. A document may have 16 MB.
PIECE_BYTES = 1_048_576
COLLECTION = Collection(
    name=NAME,
    indexes=[EXPIRY_INDEX],
    owned_by=ByIdPrefix(field=None),
    personal=NotPersonal("parts of a file that is as it was when it was made, and is gone within days"),
    retention=NoRetention("gone with the archive, after some days"),
    archived=NotArchived("an archive has no archives in it"),
    shard_key=BY_ID,
    audited=NotAudited("the archive that they are parts of is recorded"),
)


class PieceMissing(LookupError):
    """A piece of the file is not there any more: the archive was deleted meanwhile."""


async def add_piece(
    database: Database, making: Making, number: int, data: bytes, expires_at: datetime
) -> None:
    """Store a piece of a file. It goes at `expires_at` at the latest, whatever becomes of its archive."""
    document = {"_id": _piece_id(making, number), "data": data, "expires_at": expires_at}
    await database[NAME].insert_one(document)


async def read_pieces(
    database: Database, making: Making, start: int, end: int
) -> AsyncGenerator[bytes, None]:
    """The bytes of a whole file from `start` up to `end`, which is not included. Raises PieceMissing."""
    for number in range(start // PIECE_BYTES, -(-end // PIECE_BYTES)):
        piece = await database[NAME].find_one({"_id": _piece_id(making, number)}, {"data": 1})
        if piece is None:
            raise PieceMissing
        offset = number * PIECE_BYTES
        yield piece["data"][max(0, start - offset) : end - offset]


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A whole file of `size` bytes, to be opened as one on a disk is. Each read waits for the database."""

    database: Database
    making: Making
    size: int

    def open(self, mode: Literal["rb"]) -> BinaryIO:
        """The file, from its beginning. Reading raises PieceMissing."""
        pieces = _Pieces(self.database.delegate, self.making, self.size)
        return BufferedReader(pieces, PIECE_BYTES)


class _Pieces(RawIOBase):
    """The bytes of a stored file, of which one piece is in memory."""

    def __init__(self, database: BlockingDatabase, making: Making, size: int) -> None:
        self._database = database
        self._making = making
        self._size = size
        self._at = 0
        self._number, self._piece = -1, b""

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = SEEK_SET) -> int:
        beginnings = {SEEK_SET: 0, SEEK_CUR: self._at, SEEK_END: self._size}
        self._at = beginnings[whence] + offset
        return self._at

    def readinto(self, buffer: Any) -> int:
        if self._at >= self._size:
            return 0
        number, offset = divmod(self._at, PIECE_BYTES)
        if number != self._number:
            found = self._database[NAME].find_one({"_id": _piece_id(self._making, number)}, {"data": 1})
            if found is None:
                raise PieceMissing
            self._number, self._piece = number, found["data"]
        data = self._piece[offset : offset + len(buffer)]
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


async def delete_pieces(database: Database, org_id: OrgId, archive_id: str, making_id: str = "") -> None:
    """Delete the pieces of an archive; with `making_id`, only those of that attempt to make it."""
    beginning = f"{org_id}/{archive_id}/" + (f"{making_id}/" if making_id else "")
    await database[NAME].delete_many({"_id": {"$gte": beginning, "$lt": f"{beginning}\uffff"}})


def _piece_id(making: Making, number: int) -> str:
    return f"{making.org_id}/{making.archive_id}/{making.id}/{number:08}"
