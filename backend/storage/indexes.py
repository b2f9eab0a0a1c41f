"""Makes the collections with their indexes, as they declare them.

Apart from `database`, which every command needs, and few of them all collections: to import these takes a
third of the time of a short command.
"""

from __future__ import annotations

import logging

from pymongo.errors import OperationFailure

from backend.storage import click_blocks, click_counts, organizations
from backend.storage.collections import declared_compressors, declared_indexes
from backend.storage.deadlines import deadline
from backend.storage.mongo import Database, is_unreachable

_SECONDS = 24 * 3600.0
_EXISTS = 48
_log = logging.getLogger("waylink.storage")


async def create_indexes(database: Database) -> None:
    """Create the missing indexes of all collections. Each collection's file declares its own.

    One collection after another: side by side they wait for one another's locks. Those of `organizations`
    come last: where that collection exists, all were made once.
    """
    declared = declared_indexes()
    last = declared.pop(organizations.NAME)
    with deadline(_SECONDS):  # a new index of a large collection takes long
        await _create_compressed(database)
        await click_counts.name_days(database)
        await click_blocks.end_expiry(database)
        for name, each in declared.items():
            if each:
                await database[name].create_indexes(each)
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
        if error.code != _EXISTS:
            raise


async def _create_compressed(database: Database) -> None:
    """Create the missing collections that are to be compressed in a way of their own.

    A server that does not allow that, such as a hosted one, makes them in its own way, with their indexes.
    """
    known = await database.list_collection_names()
    for name, compressor in declared_compressors().items():
        if name in known:
            continue
        engine = {"wiredTiger": {"configString": f"block_compressor={compressor}"}}
        try:
            await database.create_collection(name, check_exists=False, storageEngine=engine)
        except OperationFailure as error:
            if is_unreachable(error):
                raise
            _log.info("The collection %s is compressed as usual: %s", name, error.code)
