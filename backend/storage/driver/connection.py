"""Connects to MongoDB: the driver's settings, and the URI of a connection."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import copy_context
from functools import partial

from bson.codec_options import CodecOptions
from motor.motor_asyncio import AsyncIOMotorClient
from pymongo import WriteConcern
from pymongo.read_concern import ReadConcern
from pymongo.synchronous import monitor

from backend.storage.driver.deadlines import deadline
from backend.storage.driver.lanes import BACKGROUND
from backend.storage.driver.mongo import Database, Document

_CLOSE_TIMEOUT = 1.0
_uris: dict[int, str] = {}  # by the client's id(): clients of one server are equal


def uri_of(database: Database) -> str:
    """The URI with which the database was opened, for a process that is to open it too."""
    return _uris[id(database.client)]


@asynccontextmanager
async def connect(uri: str, name: str, seconds: float) -> AsyncIterator[Database]:
    """A connection to the database. Whether the database answers is not checked."""
    client: AsyncIOMotorClient[Document] = AsyncIOMotorClient(
        uri,
        tz_aware=True,
        serverSelectionTimeoutMS=5000,
        connectTimeoutMS=3000,
        heartbeatFrequencyMS=1000,  # with the above, how soon a monitor's own connection is known to hang
        timeoutMS=round(seconds * 1000),
        appname="waylink",
        retryWrites=True,
    )
    _uris[id(client)] = uri
    try:
        yield client.get_database(
            name,
            codec_options=CodecOptions(tz_aware=True),
            # Only what a majority has survives the loss of a member, so reads and writes rely on nothing
            # else.
            read_concern=ReadConcern("majority"),
            write_concern=WriteConcern("majority"),
        )
    finally:
        del _uris[id(client)]
        await _close(client)


async def _close(client: AsyncIOMotorClient[Document]) -> None:
    """Close the client in a thread: it sends a last message to the server, which may not answer."""
    # At the end of a process the driver would wait for its threads, which sleep for half a second at a time.
    atexit.unregister(monitor._shutdown_resources)
    with deadline(_CLOSE_TIMEOUT), contextlib.suppress(TimeoutError):
        closing = asyncio.wrap_future(BACKGROUND.submit(partial(copy_context().run, client.delegate.close)))
        await asyncio.wait_for(closing, 2 * _CLOSE_TIMEOUT)
