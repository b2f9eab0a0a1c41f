"""Opens the connection to MongoDB, and creates the indexes."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from enum import Enum, auto
from typing import Any

from backend.domain.errors import OperatorError
from backend.settings import Settings
from backend.storage.accounts import organizations
from backend.storage.audit.recording import recording
from backend.storage.driver.connection import connect
from backend.storage.driver.deadlines import deadline
from backend.storage.driver.mongo import Database, StorageError, is_unreachable, ping
from backend.storage.embedded.mongodb import EmbeddedMongoDB
from backend.storage.lifecycle.collections import COLLECTIONS

# The default time limit of an operation in seconds, where no deadline says otherwise: in the service, and in
# commands with long reports.
SERVICE_SECONDS = 5.0
COMMAND_SECONDS = 600.0
_FIRST_ANSWER_SECONDS = 1.5  # where the server may be away
_PREPARE_AGAIN_SECONDS = 1.0
_log = logging.getLogger("waylink.storage")


class MongoDBUnreachable(OperatorError):
    """The configured MongoDB server does not answer."""

    def __init__(self, hosts: str) -> None:
        super().__init__(
            f"MongoDB at {hosts} does not answer as a writable replica set: check that it runs, "
            "and WAYLINK_MONGODB_URI."
        )


class Indexes(Enum):
    """What to do about indexes when the database is opened."""

    MAKE = auto()  # what is missing
    # All of them, where none were made yet: a command may store something before a service ever ran, and what
    # must be unique has to be so from the first document on.
    MAKE_IN_NEW = auto()
    LEAVE = auto()


@asynccontextmanager
async def open_database(
    settings: Settings,
    indexes: Indexes = Indexes.MAKE_IN_NEW,
    seconds: float = COMMAND_SECONDS,
    *,
    may_be_away: bool = False,
) -> AsyncIterator[Database]:
    """Open the database that the settings name. Without a configured server, one is started.

    Each operation fails after this many `seconds`, unless it has its own `deadline`. If the configured server
    `may_be_away`, indexes are created once it answers.

    Raises MongoDBNotFound if a server has to be started but none is installed, and MongoDBUnreachable if the
    configured one does not answer.
    """
    async with (
        _connection(settings, seconds) as database,
        _prepared(database, indexes, may_be_away and bool(settings.mongodb_uri)),
    ):
        yield recording(database, COLLECTIONS)


@asynccontextmanager
async def _connection(settings: Settings, seconds: float) -> AsyncIterator[Database]:
    """The driver's connection to the configured server, or to one that is started."""
    name = settings.mongodb_database
    if settings.mongodb_uri:
        async with connect(settings.mongodb_uri, name, seconds) as database:
            yield database
        return
    async with (
        EmbeddedMongoDB(settings.data_dir / "mongodb") as server,
        connect(server.uri, name, seconds) as database,
    ):
        yield database


@asynccontextmanager
async def _prepared(database: Database, indexes: Indexes, may_be_away: bool) -> AsyncIterator[None]:
    """The block runs with all indexes; if the server may be away, they are created once it is back."""
    going_on: asyncio.Task[None] | None = None
    try:
        # Who waits at a terminal is told soon, whatever a command may take.
        await _answered(database, _FIRST_ANSWER_SECONDS if may_be_away else SERVICE_SECONDS)
        await _prepare(database, indexes)
    except MongoDBUnreachable as error:
        if not may_be_away:
            raise
        _log.warning("The service starts without its storage: %s", error)
        going_on = asyncio.create_task(_go_on_preparing(database, indexes))
    try:
        yield
    finally:
        if going_on:
            going_on.cancel()


async def _go_on_preparing(database: Database, indexes: Indexes) -> None:
    while True:
        await asyncio.sleep(_PREPARE_AGAIN_SECONDS)
        with contextlib.suppress(MongoDBUnreachable):
            await _answered(database, SERVICE_SECONDS)
            return await _prepare(database, indexes)


async def _answered(database: Database, seconds: float) -> None:
    with _unreachable(database), deadline(seconds):
        await ping(database)


async def _prepare(database: Database, indexes: Indexes) -> None:
    with _unreachable(database):
        if indexes is Indexes.MAKE or (indexes is Indexes.MAKE_IN_NEW and await _is_new(database)):
            from backend.storage.lifecycle.indexes import create_indexes  # noqa: PLC0415 - few commands need it

            await create_indexes(database)


@contextlib.contextmanager
def _unreachable(database: Database) -> Iterator[None]:
    """Raise MongoDBUnreachable if the block fails because the server can't be used now."""
    try:
        yield
    except StorageError as error:
        if not is_unreachable(error):
            raise
        topology: Any = database.client.topology_description
        hosts = ", ".join(f"{host}:{port}" for host, port in topology.server_descriptions())
        raise MongoDBUnreachable(hosts) from None


async def _is_new(database: Database) -> bool:
    """Whether indexes were never made. `create_indexes` makes those of organizations last."""
    return not await database.list_collection_names(filter={"name": organizations.NAME})
