"""Processor time of reading a small document through Motor, PyMongo's asyncio client and blocking calls.

`python -m benchmarks.drivers` starts a MongoDB and prints, for each client, the median of five runs and their
range: microseconds of this process's processor time for one `find_one` by id, and of wall time.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import uvloop
from motor.motor_asyncio import AsyncIOMotorClient
from pymongo import AsyncMongoClient, MongoClient

from tests.processes.replica_set import replica_set

_READS = 3_000
_DOCUMENTS = 100
_TASKS = 16
_RUNS = 5
Work = Callable[[], Awaitable[None]]


def main() -> None:
    """Measure and print."""
    with (
        tempfile.TemporaryDirectory(prefix="waylink-bench-") as folder,
        replica_set(Path(folder), 1) as server,
    ):
        uvloop.run(_compare(server.uri))


async def _compare(uri: str) -> None:
    motor: AsyncIOMotorClient[dict[str, Any]] = AsyncIOMotorClient(uri)
    blocking: MongoClient[dict[str, Any]] = MongoClient(uri)
    blocking.bench.read.insert_many([{"_id": number, "text": "x" * 200} for number in range(_DOCUMENTS)])
    async with AsyncMongoClient[dict[str, Any]](uri) as asyncio_client:
        for client, name in ((motor, "Motor"), (asyncio_client, "PyMongo's asyncio client")):
            await _measure(f"{name}, one after the other", partial(_read, client.bench.read, _READS))
            await _measure(f"{name}, {_TASKS} tasks", partial(_read_side_by_side, client.bench.read))
    await _measure("blocking calls in one thread", partial(asyncio.to_thread, _read_blocking, blocking))
    blocking.close()
    motor.close()


async def _measure(name: str, work: Work) -> None:
    await work()  # connections, and what the first call of a client sets up
    taken = [await _time(work) for _ in range(_RUNS)]
    processor, wall = zip(*taken, strict=True)
    print(
        f"{name:45} {statistics.median(processor):4.0f} us of a processor "
        f"({min(processor):.0f} to {max(processor):.0f}), {statistics.median(wall):4.0f} us in all"
    )


async def _time(work: Work) -> tuple[float, float]:
    """Microseconds of processor time and of wall time for one read."""
    processor, wall = time.process_time(), time.perf_counter()
    await work()
    micros_per_read = 1e6 / _READS
    return (time.process_time() - processor) * micros_per_read, (time.perf_counter() - wall) * micros_per_read


async def _read(collection: Any, reads: int) -> None:
    for number in range(reads):
        await collection.find_one({"_id": number % _DOCUMENTS})


async def _read_side_by_side(collection: Any) -> None:
    await asyncio.gather(*(_read(collection, _READS // _TASKS) for _ in range(_TASKS)))


def _read_blocking(client: MongoClient[dict[str, Any]]) -> None:
    for number in range(_READS):
        client.bench.read.find_one({"_id": number % _DOCUMENTS})


if __name__ == "__main__":
    main()
