"""The MongoDB driver's types and errors, under the names that the rest of the service uses."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from contextvars import Context
from dataclasses import fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from bson import encode
from motor.motor_asyncio import AsyncIOMotorClientSession, AsyncIOMotorCursor, AsyncIOMotorDatabase
from pymongo import WriteConcern
from pymongo.errors import (
    ConnectionFailure,
    ExecutionTimeout,
    OperationFailure,
    PyMongoError,
    ServerSelectionTimeoutError,
)
from pymongo.read_concern import ReadConcern

from backend.storage.driver.deadlines import deadline
from backend.storage.driver.guards import guarded
from backend.storage.driver.lanes import StorageAway

Document: TypeAlias = dict[str, Any]
ResultT = TypeVar("ResultT")
if TYPE_CHECKING:
    Database: TypeAlias = AsyncIOMotorDatabase[Document]
    Cursor: TypeAlias = AsyncIOMotorCursor[Document]
else:  # the driver's classes take no parameters at run time
    Database = AsyncIOMotorDatabase
    Cursor = AsyncIOMotorCursor
ClientSession: TypeAlias = AsyncIOMotorClientSession

StorageError = PyMongoError
_WRITE_CONFLICT = 112
DUPLICATE_KEY = 11000
# MongoDB's error codes for errors that pass: a server stops, starts or steps down, or requests conflict with
# one another. The driver knows other such errors by itself.
_TEMPORARY_CODES = frozenset(
    {
        6,  # HostUnreachable
        7,  # HostNotFound
        24,  # LockTimeout
        46,  # LockFailed
        89,  # NetworkTimeout
        91,  # ShutdownInProgress
        112,  # WriteConflict
        189,  # PrimarySteppedDown
        246,  # SnapshotUnavailable
        251,  # NoSuchTransaction
        290,  # TransactionExceededLifetimeLimitSeconds
        9001,  # SocketException
        10107,  # NotWritablePrimary
        11600,  # InterruptedAtShutdown
        11601,  # Interrupted
        11602,  # InterruptedDueToReplStateChange
        13435,  # NotPrimaryNoSecondaryOk
        13436,  # NotPrimaryOrSecondary
    }
)
# A transaction has more than the server's log, or its cache, takes.
_TOO_LARGE_CODES = frozenset({257, 388})
_TEMPORARY_LABELS = ("TransientTransactionError", "UnknownTransactionCommitResult", "RetryableWriteError")
# A collection that does not exist. `until_confirmed` reads it only to wait for the read.
_MISSING_COLLECTION = "none"
# The longest that a transaction may take. A request that waits for one may have less time.
TRANSACTION_SECONDS = 8.0
# Seconds to try to close something at the server. Later the server does it by itself.
_CLOSE_TIMEOUT = 60.0
_CLOSE_RETRY_PAUSE = 0.25
_closing: set[asyncio.Task[None]] = set()


def known_fields(document: Document, record: type) -> Document:
    """The fields of the document that the dataclass `record` has.

    Other fields are left out: a newer version of the service on another host may have stored more.
    """
    return {item.name: document[item.name] for item in fields(record) if item.name in document}


def size_of(document: Document) -> int:
    """The bytes that it takes as MongoDB has it."""
    return len(encode(document))


def is_unreachable(error: BaseException) -> bool:
    """Whether the error means that MongoDB can't be used now and the caller may try again."""
    if not isinstance(error, StorageError):
        return False
    if isinstance(error, ConnectionFailure) or is_too_slow(error):
        return True
    is_labelled = any(map(error.has_error_label, _TEMPORARY_LABELS))
    return is_labelled or not _TEMPORARY_CODES.isdisjoint(_codes(error))


def _codes(error: StorageError) -> set[int]:
    """The server's error codes; a failed bulk write has one for each failed document."""
    details = (isinstance(error, OperationFailure) and error.details) or {}
    parts = [details, *details.get("writeErrors", ()), *details.get("writeConcernErrors", ())]
    codes = {part.get("code") for part in parts}
    return {code for code in codes if isinstance(code, int)}


def is_too_slow(error: BaseException) -> bool:
    """Whether the server stopped because a time limit set by the caller has passed."""
    return isinstance(error, PyMongoError) and (isinstance(error, ExecutionTimeout) or error.timeout)


def is_too_much(error: BaseException) -> bool:
    """Whether the server can't do so much at once: a part of it may do."""
    is_too_large = isinstance(error, StorageError) and not _TOO_LARGE_CODES.isdisjoint(_codes(error))
    return is_too_large or (is_too_slow(error) and not is_away(error))


def is_away(error: BaseException) -> bool:
    """Whether MongoDB can't be reached, so that nothing else would succeed either."""
    if isinstance(error, ServerSelectionTimeoutError):  # which the driver counts among those that take long
        return True
    return isinstance(error, ConnectionFailure) and not is_too_slow(error)


def asks_for_another_try(error: StorageError) -> bool:
    """Whether a transaction was ended for a reason that passes, such as a write of somebody else."""
    return error.has_error_label("TransientTransactionError") and not is_too_slow(error)


def is_conflict(error: StorageError) -> bool:
    """Whether another transaction has written the same document, or has inserted one with the same id."""
    return not {_WRITE_CONFLICT, DUPLICATE_KEY}.isdisjoint(_codes(error))


def is_duplicate(error: StorageError) -> bool:
    """Whether a unique index refused what was to be written, or a part of it."""
    return DUPLICATE_KEY in _codes(error)


async def ping(database: Database) -> None:
    """Return once the server answers. Raises StorageError."""
    await database.command("ping")


async def server_time(database: Database) -> datetime:
    """The time by the database's clock, which is the same for all processes."""
    now: datetime = (await database.command("hello"))["localTime"]
    return now.replace(tzinfo=UTC)  # the answer of a command has times without a zone


async def until_confirmed(database: Database) -> None:
    """Wait until a majority has everything that the primary has now.

    Raises StorageError if that takes too long. Await this before you conclude from a duplicate-key error that
    something is stored: the existing document may be on the primary only, and lost if the primary fails.
    Later reads see it if it was kept.
    """
    async with await database.client.start_session(causal_consistency=True) as session:
        await database.command("ping", session=session)  # gets the primary's time; the read waits for it
        await database[_MISSING_COLLECTION].find_one({}, session=session)


class _TryAgain(Exception):
    """The server asks for another try of the transaction."""


async def in_transaction(
    database: Database, work: Callable[[ClientSession], Coroutine[Any, Any, ResultT]]
) -> ResultT:
    """Run `work` in one transaction, and return what it returns: all of it is stored or nothing.

    `work` runs again if the server asks for that, and with it what guards the transaction
    (`guard_next_transaction`). Raises StorageError after `TRANSACTION_SECONDS`, or after
    the caller's `deadline` if that is shorter. Even if the caller stops waiting, the transaction runs to its
    end: half a transaction would keep its documents locked.
    """
    return await run_to_the_end(_run_transaction(database, work))


async def run_to_the_end(work: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Wait for this work and return its result. It goes on even if the caller is cancelled."""
    return await asyncio.shield(begin(work))


def begin(work: Coroutine[Any, Any, ResultT]) -> asyncio.Task[ResultT]:
    """Start this work as a task. If it fails and nobody awaits it, asyncio logs no warning."""
    begun = asyncio.create_task(work)
    begun.add_done_callback(_read_error)
    return begun


async def _run_transaction(
    database: Database, work: Callable[[ClientSession], Coroutine[Any, Any, ResultT]]
) -> ResultT:
    with deadline(TRANSACTION_SECONDS):
        session = await database.client.start_session()
        try:
            while True:
                with contextlib.suppress(_TryAgain):
                    return await _try_transaction(session, work)
        finally:
            close_in_background(session.end_session)


async def _try_transaction(
    session: ClientSession, work: Callable[[ClientSession], Coroutine[Any, Any, ResultT]]
) -> ResultT:
    """Try once. Raises _TryAgain if nothing is stored, and the server asks for another try."""
    session.start_transaction(read_concern=ReadConcern("snapshot"), write_concern=WriteConcern("majority"))
    try:
        await guarded().check(session)
        result = await work(session)
        await _commit(session)
    except StorageError as error:
        if not asks_for_another_try(error):
            raise
        if session.in_transaction:  # type: ignore[truthy-function]  # a property; its stub says method
            await session.abort_transaction()
        raise _TryAgain from None
    guarded().finish()
    return result


async def _commit(session: ClientSession) -> None:
    """Commit, and repeat that until the server says whether it worked."""
    while True:
        try:
            await session.commit_transaction()
        except StorageError as error:
            if not error.has_error_label("UnknownTransactionCommitResult") or is_too_slow(error):
                raise
        else:
            return


def close_in_background(close: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Close something that the server keeps open for us (and its locks) in the background.

    It runs in a new context, since it must happen even if the caller's deadline has passed.
    """
    closing = asyncio.get_running_loop().create_task(_close(close), context=Context())
    _closing.add(closing)
    closing.add_done_callback(_closing.discard)


async def _close(close: Callable[[], Coroutine[Any, Any, None]]) -> None:
    # With a dead connection, the driver fails in various ways. The server then closes it by itself.
    with contextlib.suppress(Exception), deadline(_CLOSE_TIMEOUT):
        async with asyncio.timeout(_CLOSE_TIMEOUT):
            while True:
                try:
                    return await close()
                except StorageAway:  # it was not even asked; it will be again
                    await asyncio.sleep(_CLOSE_RETRY_PAUSE)


def _read_error(task: asyncio.Task[Any]) -> None:
    """Read the task's error, so that asyncio does not warn that nobody did."""
    if not task.cancelled():
        task.exception()
