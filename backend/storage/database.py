"""The connection to MongoDB, and the indexes that carry the rules."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from bson.codec_options import CodecOptions
from motor.motor_asyncio import AsyncIOMotorClient
from pymongo import IndexModel, WriteConcern

from backend.settings import Settings
from backend.storage.collections import COLLECTIONS
from backend.storage.embedded_mongodb import EmbeddedMongoDB
from backend.storage.mongo import STORAGE_UNREACHABLE, Database, Document, ping


class MongoDBUnreachable(ConnectionError):
    """The configured server does not answer."""

    def __init__(self, hosts: str) -> None:
        super().__init__(
            f"MongoDB at {hosts} does not answer as a writable replica set: check that it runs, "
            "and WAYLINK_MONGODB_URI."
        )


@asynccontextmanager
async def open_database(settings: Settings, *, with_indexes: bool = True) -> AsyncIterator[Database]:
    """The database that the settings name, with its indexes; a server of our own where none is configured.

    Not `with_indexes`, the database is left as it is.

    Raises MongoDBNotFound when a server must be started and this machine has none, and MongoDBUnreachable
    when the configured one does not answer.
    """
    if settings.mongodb_uri:
        async with _connect(settings.mongodb_uri, settings.mongodb_database, with_indexes) as database:
            yield database
        return
    async with (
        EmbeddedMongoDB(settings.data_dir / "mongodb") as server,
        _connect(server.uri, settings.mongodb_database, with_indexes) as database,
    ):
        yield database


@asynccontextmanager
async def _connect(uri: str, name: str, with_indexes: bool) -> AsyncIterator[Database]:
    client: AsyncIOMotorClient[Document] = AsyncIOMotorClient(
        uri, tz_aware=True, serverSelectionTimeoutMS=5000, appname="waylink", retryWrites=True
    )
    try:
        database = client.get_database(
            name,
            codec_options=CodecOptions(tz_aware=True),
            write_concern=WriteConcern("majority"),
        )
        await _prepare(database, with_indexes=with_indexes)
        yield database
    finally:
        client.close()


async def _prepare(database: Database, *, with_indexes: bool) -> None:
    try:
        await (create_indexes(database) if with_indexes else ping(database))
    except STORAGE_UNREACHABLE:
        topology: Any = database.client.topology_description
        hosts = ", ".join(f"{host}:{port}" for host, port in topology.server_descriptions())
        raise MongoDBUnreachable(hosts) from None


def declared_indexes() -> dict[str, list[IndexModel]]:
    """The indexes that each collection is to have, by its name."""
    return {collection.NAME: list(collection.INDEXES) for collection in COLLECTIONS}


async def create_indexes(database: Database) -> None:
    """Create what is missing of every collection's indexes; each collection's file names its own."""
    await asyncio.gather(*(database[c.NAME].create_indexes(c.INDEXES) for c in COLLECTIONS if c.INDEXES))
