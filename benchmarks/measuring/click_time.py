"""Processor time that a click takes on its way from the log into the columns that questions are asked of."""

from __future__ import annotations

import statistics
import tempfile
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from backend.domain.clicks.block import Block
from backend.domain.clicks.stretch import read_stretch
from backend.domain.ids import LinkId, OrgId
from backend.settings import Settings
from backend.storage.analytics.clicks.click_windows import ClickWindow
from backend.storage.clicks.blocks import ship_blocks
from backend.storage.clicks.logs import LogHead
from backend.storage.columns.projections import Projections
from backend.storage.columns.tables.store import ColumnStore, EngineBounds
from backend.storage.database import open_database
from backend.storage.driver.mongo import Database
from backend.storage.embedded.mongodb import EmbeddedMongoDB
from backend.system.clock import utc_now
from benchmarks.data.made_clicks import made_lines
from benchmarks.ingest import mongod_pid
from benchmarks.measuring.servers import cpu_seconds_of

_LINES = 6_000  # about what a shipper reads at a time
_BLOCKS = (20, 2_000, _LINES)  # clicks of a block
_LINKS = 1_000
_TIMES = 5
_SHIPPED = 15
# Milliseconds by the clock, and of processor time of this process and of MongoDB.
_Taken = tuple[float, float, float]


async def print_click_time() -> None:
    """Print what it takes to read lines, the fastest of five times, to ship blocks, and to ask for them."""
    org_id = OrgId(str(uuid.uuid4()))
    link_ids = [LinkId(str(uuid.uuid4())) for _ in range(_LINKS)]
    stretch = _stretch(org_id, link_ids, _LINES)
    seconds = min(_used_by(lambda: read_stretch(stretch)) for _ in range(_TIMES))
    print(f"{seconds / _LINES * 1e6:.1f} µs of processor time for each click, to read, check and pack lines")
    with tempfile.TemporaryDirectory(prefix="waylink-bench-") as name:
        async with EmbeddedMongoDB(Path(name) / "mongodb") as mongodb:
            settings = replace(Settings(), mongodb_uri=mongodb.uri, data_dir=Path(name))
            async with open_database(settings) as database:
                way = _Way(database, mongod_pid(Path(name)), org_id, link_ids)
                store = ColumnStore(Path(name) / "columns", EngineBounds())
                await way.print_all(Projections(database, store, utc_now, 60))


class _Way:
    """The way of clicks on these links through MongoDB into columns."""

    def __init__(self, database: Database, mongod: int, org_id: OrgId, link_ids: Sequence[LinkId]) -> None:
        self._database = database
        self._mongod = mongod
        self._org_id = org_id
        self._link_ids = link_ids
        self._head = LogHead()

    async def print_all(self, projections: Projections) -> None:
        """Print what it takes to ship blocks one by one, and to ask for each of them once it is stored."""

        async def ask() -> None:
            await projections.ask(self._org_id, [ClickWindow(self._link_ids[0], utc_now())])

        await ask()
        for size in _BLOCKS:
            shipped, asked = [], []
            for number in range(_SHIPPED):
                # The number of clicks says what is drawn.
                blocks = read_stretch(_stretch(self._org_id, self._link_ids, size + number)).blocks
                shipped.append(await self._taken(partial(self._ship, blocks)))
                asked.append(await self._taken(ask))
            self._print(f"to ship a block of {size:,} clicks", size, shipped)
            self._print("  until it is in an answer that is asked for then", size, asked)
        await projections.close()

    async def _ship(self, blocks: Sequence[Block]) -> None:
        self._head = await ship_blocks(self._database, "log", self._head, self._head.position + 1, blocks)

    async def _taken(self, work: Callable[[], Awaitable[None]]) -> _Taken:
        before = time.perf_counter(), time.process_time(), cpu_seconds_of(self._mongod)
        await work()
        now = time.perf_counter(), time.process_time(), cpu_seconds_of(self._mongod)
        seconds, ours, of_mongodb = ((after - then) * 1000 for then, after in zip(before, now, strict=True))
        return seconds, ours, of_mongodb

    def _print(self, what: str, clicks: int, taken: Sequence[_Taken]) -> None:
        seconds, ours, of_mongodb = map(statistics.median, zip(*taken, strict=True))
        print(
            f"{what}: {seconds:.1f} ms, processor time {ours:.1f} ms and {of_mongodb:.1f} of MongoDB's, "
            f"{(ours + of_mongodb) / clicks * 1000:.1f} µs for each click",
            flush=True,
        )


def _stretch(org_id: OrgId, link_ids: Sequence[LinkId], clicks: int) -> bytes:
    """The lines of clicks of one day."""
    start = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=1)
    return b"".join(made_lines(org_id, link_ids, clicks, start, timedelta(hours=1)))


def _used_by(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began
