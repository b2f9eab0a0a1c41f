"""The driver's types and errors, under the names that the rest of the service uses."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import fields
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

import pymongo
from motor.motor_asyncio import AsyncIOMotorClientSession, AsyncIOMotorDatabase
from pymongo import WriteConcern
from pymongo.errors import AutoReconnect, ExecutionTimeout, PyMongoError, ServerSelectionTimeoutError
from pymongo.read_concern import ReadConcern

Document: TypeAlias = dict[str, Any]
if TYPE_CHECKING:
    Database: TypeAlias = AsyncIOMotorDatabase[Document]
else:  # the driver's class takes no parameters at run time
    Database = AsyncIOMotorDatabase
Session: TypeAlias = AsyncIOMotorClientSession

# The server can't be reached now: the caller may try again.
STORAGE_UNREACHABLE = (ServerSelectionTimeoutError, AutoReconnect)
StorageError = PyMongoError
# `with deadline(seconds)`: what is asked of the database in the block raises StorageError after that time.
deadline = pymongo.timeout


def known_fields(document: Document, record: type) -> Document:
    """What of a document is a field of the dataclass `record`.

    A newer version of the service, on another host, may have stored more: that is no reason to fail.
    """
    return {item.name: document[item.name] for item in fields(record) if item.name in document}


def is_too_slow(error: Exception) -> bool:
    """Whether the server gave up because of a time limit that the caller had set."""
    return isinstance(error, PyMongoError) and (isinstance(error, ExecutionTimeout) or error.timeout)


async def ping(database: Database) -> None:
    """Return when the server answers; raises one of STORAGE_UNREACHABLE."""
    await database.command("ping")


async def server_time(database: Database) -> datetime:
    """The time by the database's clock, which all processes share."""
    told: datetime = (await database.command("hello"))["localTime"]
    return told


async def in_transaction(database: Database, work: Callable[[Session], Coroutine[Any, Any, None]]) -> None:
    """Run `work` in one transaction, again where the server asks for it: all of it is stored, or nothing."""
    async with await database.client.start_session() as session:
        await session.with_transaction(
            work, read_concern=ReadConcern("snapshot"), write_concern=WriteConcern("majority")
        )
