"""The connection to MongoDB, and the indexes that carry the rules."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from enum import Enum, auto
from typing import Any

from bson.codec_options import CodecOptions
from motor.motor_asyncio import AsyncIOMotorClient
from pymongo import WriteConcern

from backend.settings import Settings
from backend.storage.collections import declared_indexes
from backend.storage.embedded_mongodb import EmbeddedMongoDB
from backend.storage.mongo import STORAGE_UNREACHABLE, Database, Document, ping


class MongoDBUnreachable(ConnectionError):
    """The configured server does not answer."""

    def __init__(self, hosts: str) -> None:
        super().__init__(
            f"MongoDB at {hosts} does not answer as a writable replica set: check that it runs, "
            "and WAYLINK_MONGODB_URI."
        )


class Indexes(Enum):
    """What opening the database does about its indexes."""

    MAKE = auto()  # what is missing
    MAKE_IN_NEW = auto()  # all of them, where no service has made any yet
    LEAVE = auto()


@asynccontextmanager
async def open_database(
    settings: Settings, indexes: Indexes = Indexes.MAKE_IN_NEW
) -> AsyncIterator[Database]:
    """The database that the settings name; a server of our own where none is configured.

    Raises MongoDBNotFound when a server must be started and this machine has none, and MongoDBUnreachable
    when the configured one does not answer.
    """
    if settings.mongodb_uri:
        async with _connect(settings.mongodb_uri, settings.mongodb_database, indexes) as database:
            yield database
        return
    async with (
        EmbeddedMongoDB(settings.data_dir / "mongodb") as server,
        _connect(server.uri, settings.mongodb_database, indexes) as database,
    ):
        yield database


@asynccontextmanager
async def _connect(uri: str, name: str, indexes: Indexes) -> AsyncIterator[Database]:
    client: AsyncIOMotorClient[Document] = AsyncIOMotorClient(
        uri, tz_aware=True, serverSelectionTimeoutMS=5000, appname="waylink", retryWrites=True
    )
    try:
        database = client.get_database(
            name,
            codec_options=CodecOptions(tz_aware=True),
            write_concern=WriteConcern("majority"),
        )
        await _prepare(database, indexes)
        yield database
    finally:
        client.close()


async def _prepare(database: Database, indexes: Indexes) -> None:
    try:
        if indexes is Indexes.LEAVE:
            await ping(database)
        elif indexes is Indexes.MAKE or await _is_new(database):
            await create_indexes(database)
    except STORAGE_UNREACHABLE:
        topology: Any = database.client.topology_description
        hosts = ", ".join(f"{host}:{port}" for host, port in topology.server_descriptions())
        raise MongoDBUnreachable(hosts) from None


async def _is_new(database: Database) -> bool:
    """Whether a collection is missing that has indexes: those are made before anything is stored."""
    indexed = {name for name, indexes in declared_indexes().items() if indexes}
    return not indexed <= set(await database.list_collection_names())


async def create_indexes(database: Database) -> None:
    """Create what is missing of every collection's indexes; each collection's file names its own."""
    declared = declared_indexes().items()
    await asyncio.gather(*(database[name].create_indexes(indexes) for name, indexes in declared if indexes))
