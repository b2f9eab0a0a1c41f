"""The connection to MongoDB, and the indexes that carry the rules."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bson.codec_options import CodecOptions
from motor.motor_asyncio import AsyncIOMotorClient
from pymongo import WriteConcern

from backend.settings import Settings
from backend.storage import api_keys, domains, links, organizations, origins
from backend.storage.embedded_mongodb import EmbeddedMongoDB
from backend.storage.mongo import Database, Document

_COLLECTIONS = (organizations, api_keys, domains, origins, links)


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[Database]:
    """The database that the settings name, with its indexes; a server of our own where none is configured.

    Raises MongoDBNotFound when a server must be started and this machine has none.
    """
    if settings.mongodb_uri:
        async with _connect(settings.mongodb_uri, settings.mongodb_database) as database:
            yield database
        return
    async with (
        EmbeddedMongoDB(settings.data_dir / "mongodb") as server,
        _connect(server.uri, settings.mongodb_database) as database,
    ):
        yield database


@asynccontextmanager
async def _connect(uri: str, name: str) -> AsyncIterator[Database]:
    client: AsyncIOMotorClient[Document] = AsyncIOMotorClient(
        uri, tz_aware=True, serverSelectionTimeoutMS=5000, appname="waylink", retryWrites=True
    )
    try:
        database = client.get_database(
            name,
            codec_options=CodecOptions(tz_aware=True),
            write_concern=WriteConcern("majority"),
        )
        await create_indexes(database)
        yield database
    finally:
        client.close()


async def create_indexes(database: Database) -> None:
    """Create what is missing of every collection's indexes; each collection's file names its own."""
    await asyncio.gather(*(database[c.NAME].create_indexes(c.INDEXES) for c in _COLLECTIONS if c.INDEXES))
