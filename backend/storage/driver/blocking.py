"""Work of many steps with the database, done in one thread, by the driver's blocking calls.

Motor makes each call in a thread of its own. Where a request, or a group of them, needs many calls in a row,
handing them over takes more processor time than the calls themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from functools import partial
from typing import Any, TypeAlias

from pymongo import WriteConcern
from pymongo.client_session import ClientSession
from pymongo.database import Database as DriversDatabase
from pymongo.read_concern import ReadConcern

from backend.concurrency.quick_switches import QUICK_SWITCHES
from backend.storage.driver.deadlines import deadline
from backend.storage.driver.lanes import BACKGROUND, in_lane
from backend.storage.driver.mongo import (
    TRANSACTION_SECONDS,
    Database,
    Document,
    ResultT,
    StorageError,
    asks_for_another_try,
    is_too_slow,
)

BlockingDatabase: TypeAlias = DriversDatabase[Document]
BlockingSession: TypeAlias = ClientSession
# Seconds to tell the server to abort a transaction. Later the server aborts it by itself.
_ABORT_TIMEOUT = 1.0


async def in_thread(database: Database, work: Callable[[BlockingDatabase], ResultT]) -> ResultT:
    """Run `work` with this database in a thread. It runs to its end even if the caller stops waiting.

    Raises StorageError as soon as the database is known to be away. Even then, what `work` writes may be
    stored.
    """
    return await in_lane(partial(work, database.delegate))


def transact(database: BlockingDatabase, work: Callable[[BlockingSession], ResultT]) -> ResultT:
    """Run `work` in one transaction, as `mongo.in_transaction` does, and return its result.

    Either all of its writes are stored or none. `work` runs again if the server asks for that. Raises
    StorageError after `TRANSACTION_SECONDS`, or after the caller's `deadline` if that is shorter.
    """
    session = database.client.start_session()
    try:
        with deadline(TRANSACTION_SECONDS), QUICK_SWITCHES:
            while True:
                try:
                    return _try(session, work)
                except StorageError as error:
                    if not asks_for_another_try(error):
                        raise
                    if session.in_transaction:
                        session.abort_transaction()
    finally:
        _end(session)


def transact_once(session: BlockingSession, work: Callable[[BlockingSession], ResultT]) -> ResultT:
    """Run `work` in one transaction of this session, as `transact` does, but not again.

    Raises StorageError also if the server asks for another try. The transaction is then aborted.
    """
    try:
        with deadline(TRANSACTION_SECONDS):
            return _try(session, work)
    finally:
        if session.in_transaction:
            with deadline(_ABORT_TIMEOUT):
                session.abort_transaction()


def _try(session: BlockingSession, work: Callable[[BlockingSession], ResultT]) -> ResultT:
    session.start_transaction(read_concern=ReadConcern("snapshot"), write_concern=WriteConcern("majority"))
    result = work(session)
    while True:
        try:
            session.commit_transaction()
        except StorageError as error:
            # It is repeated until the server says whether it worked.
            if not error.has_error_label("UnknownTransactionCommitResult") or is_too_slow(error):
                raise
        else:
            return result


def _end(session: BlockingSession) -> None:
    if session.in_transaction:
        # Its documents stay locked until the server knows. The caller does not wait for that, and it happens
        # in a new context, since the caller's deadline may have passed.
        BACKGROUND.submit(partial[Any](Context().run, session.end_session))
    else:
        session.end_session()
