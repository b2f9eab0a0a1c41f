"""Transactions of DuckDB, in a thread of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from duckdb import DuckDBPyConnection

from backend.concurrency.cancellation import until_ended
from backend.concurrency.side_thread import beside_the_loop

ResultT = TypeVar("ResultT")


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


async def to_its_end(work: Callable[[], ResultT]) -> ResultT:
    """Run `work` in the side thread. Also who is cancelled goes on only when it has ended.

    So nobody else uses its connection meanwhile, or closes it.
    """
    return await until_ended(beside_the_loop(work))
