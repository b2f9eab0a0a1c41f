"""Deletes as many documents as there are, a bounded number at a time."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from backend.storage.driver.deadlines import deadline
from backend.storage.driver.mongo import Database, Document

# The documents that one command deletes, and the seconds that it may take.
_PER_COMMAND = 2_000
_SECONDS = 60.0


async def delete_in_pieces(database: Database, name: str, query: Document) -> AsyncGenerator[int, None]:
    """Delete all documents of this collection that the query finds. Yields the number after each piece.

    Whoever waits for something else comes in between. Documents that come meanwhile are deleted, too. Any
    number of processes may do the same at once. Raises StorageError.
    """
    while True:
        with deadline(_SECONDS):
            found = database[name].find(query, {"_id": 1}).limit(_PER_COMMAND)
            ids = [document["_id"] async for document in found]
            if not ids:
                return
            of_piece: Document = {"$and": [query, {"_id": {"$in": ids}}]}
            deleted = (await database[name].delete_many(of_piece)).deleted_count
        yield deleted  # 0 where another process has deleted the same: more may be there
