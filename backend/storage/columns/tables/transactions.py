"""Transactions of DuckDB, in a thread of their own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import TypeVar

from duckdb import DuckDBPyConnection, TransactionException

from backend.concurrency.cancellation import until_ended

ResultT = TypeVar("ResultT")
# Two, so that the long transaction of one organization does not stop all others. With each more, transactions
# have less of the memory that all share.
_threads = ThreadPoolExecutor(2, thread_name_prefix="columns")
# What is only looked up does not wait for others' transactions.
_reading_threads = ThreadPoolExecutor(2, thread_name_prefix="columns-reading")


@contextmanager
def transaction(connection: DuckDBPyConnection) -> Iterator[None]:
    """A block of which everything is written, or nothing."""
    connection.execute("BEGIN TRANSACTION")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


@asynccontextmanager
async def long_transaction(connection: DuckDBPyConnection) -> AsyncIterator[None]:
    """As `transaction`, around several calls of `to_its_end`, between which others use the thread."""
    await to_its_end(lambda: connection.execute("BEGIN TRANSACTION"))
    try:
        yield
        await to_its_end(lambda: connection.execute("COMMIT"))
    except BaseException:
        # An error may have ended it already, and a commit that was cancelled has come to its end.
        with suppress(TransactionException):
            await to_its_end(lambda: connection.execute("ROLLBACK"))
        raise


async def to_its_end(work: Callable[[], ResultT]) -> ResultT:
    """Run `work`, which may write, in a thread. Also who is cancelled goes on only when it has ended.

    So nobody else uses its connection meanwhile, or closes it.
    """
    return await until_ended(_in_thread(_threads, work))


async def read_to_its_end(work: Callable[[], ResultT]) -> ResultT:
    """As `to_its_end`, of `work` that looks something up, and writes nothing."""
    return await until_ended(_in_thread(_reading_threads, work))


async def _in_thread(threads: ThreadPoolExecutor, work: Callable[[], ResultT]) -> ResultT:
    return await asyncio.get_running_loop().run_in_executor(threads, work)
