"""Creates the collections with their declared indexes.

This is not in `database`, which every command imports: to import all collections takes a third of the time of
a short command, and few commands need them.
"""

from __future__ import annotations

from pymongo import IndexModel
from pymongo.errors import OperationFailure

from backend.storage.accounts import organizations
from backend.storage.driver.deadlines import deadline
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.collections import declared_indexes

_TIMEOUT = 24 * 3600.0
_NAMESPACE_EXISTS = 48


async def create_indexes(database: Database) -> None:
    """Create the missing indexes of all collections. Each collection's file declares its own.

    They are created one after another, since side by side they would wait for one another's locks. Those of
    `organizations` come last: if that collection exists, all collections have been created once.
    """
    declared = declared_indexes()
    last = declared.pop(organizations.NAME)
    with deadline(_TIMEOUT):  # a new index of a large collection takes long
        for name, indexes in declared.items():
            await create_collection(database, name, indexes)
        await create_collection(database, organizations.NAME, last)


async def create_collection(database: Database, name: str, indexes: list[IndexModel]) -> None:
    """Create a collection with its indexes, or the indexes that are missing."""
    if indexes:
        await database[name].create_indexes(indexes)
    else:
        await _create_bare(database, name)


async def _create_bare(database: Database, name: str) -> None:
    """Create a collection without indexes of its own.

    Otherwise its first document would create it, and a read as of an earlier moment would fail.
    """
    try:
        await database.create_collection(name, check_exists=False)
    except OperationFailure as error:
        if error.code != _NAMESPACE_EXISTS:
            raise
