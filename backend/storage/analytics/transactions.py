"""Transactions of DuckDB, in a thread of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from duckdb import DuckDBPyConnection

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


async def beside(connection: DuckDBPyConnection, work: Callable[[], ResultT]) -> ResultT:
    """Run `work` with the connection in the side thread. It has ended in any case when this returns."""
    running = asyncio.ensure_future(beside_the_loop(work))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        connection.interrupt()
        await asyncio.wait([running])
        raise
