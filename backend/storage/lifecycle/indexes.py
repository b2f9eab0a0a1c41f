"""Makes the collections with their indexes, as they declare them.

Apart from `database`, which every command needs, and few of them all collections: to import these takes a
third of the time of a short command.
"""

from __future__ import annotations

from pymongo.errors import OperationFailure

from backend.storage.accounts import organizations
from backend.storage.driver.deadlines import deadline
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.collections import declared_indexes

_TIMEOUT = 24 * 3600.0
_NAMESPACE_EXISTS = 48


async def create_indexes(database: Database) -> None:
    """Create the missing indexes of all collections. Each collection's file declares its own.

    One collection after another: side by side they wait for one another's locks. Those of `organizations`
    come last: where that collection exists, all were made once.
    """
    declared = declared_indexes()
    last = declared.pop(organizations.NAME)
    with deadline(_TIMEOUT):  # a new index of a large collection takes long
        for name, indexes in declared.items():
            if indexes:
                await database[name].create_indexes(indexes)
            else:
                await _create_bare(database, name)
        await database[organizations.NAME].create_indexes(last)


async def _create_bare(database: Database, name: str) -> None:
    """Create a collection without indexes of its own.

    Otherwise its first document would, and whoever reads as of a moment before that could not read it.
    """
    try:
        await database.create_collection(name, check_exists=False)
    except OperationFailure as error:
        if error.code != _NAMESPACE_EXISTS:
            raise
