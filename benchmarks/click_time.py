"""Processor time that a click takes on its way from the log to the counts."""

from __future__ import annotations

import gc
import tempfile
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from backend.domain.click_block import unpack
from backend.domain.click_stretch import read_stretch
from backend.domain.ids import LinkId, OrgId
from backend.settings import Settings
from backend.storage.click_blocks import ship_blocks
from backend.storage.click_logs import LogHead
from backend.storage.database import open_database
from backend.storage.embedded_mongodb import EmbeddedMongoDB
from backend.storage.folding import Folds
from backend.storage.mongo import Database
from benchmarks.ingest import mongod_pid
from benchmarks.made_clicks import made_lines
from benchmarks.servers import cpu_seconds_of

_LINES = 6_000  # about what a shipper reads at a time
_FOLDED = 20_000  # clicks
_FOLDS = 10
_LINKS = (100_000, 1_000)
_TIMES = 5


async def print_click_time() -> None:
    """Print what it takes to read lines and blocks, the fastest of five times, and to fold and merge."""
    link_ids = [LinkId(str(uuid.uuid4())) for _ in range(1_000)]
    stretch = _stretch(OrgId(str(uuid.uuid4())), link_ids, _LINES)
    (block,) = read_stretch(stretch).blocks
    _print("to read, check and pack lines", min(_taken(lambda: read_stretch(stretch))), _LINES)
    _print("to read a block", min(_taken(lambda: unpack(block.packed))), _LINES)
    with tempfile.TemporaryDirectory(prefix="waylink-bench-") as name:
        async with EmbeddedMongoDB(Path(name) / "mongodb") as mongodb:
            settings = replace(Settings(), mongodb_uri=mongodb.uri, data_dir=Path(name))
            async with open_database(settings) as database:
                for links in _LINKS:
                    await _print_folds(database, mongod_pid(Path(name)), links)


async def _print_folds(database: Database, mongod: int, links: int) -> None:
    """Print what folds of clicks on so many links take, and then the merge of what they left to it."""
    org_id = OrgId(str(uuid.uuid4()))
    link_ids = [LinkId(str(uuid.uuid4())) for _ in range(links)]
    folds = Folds(database)
    used = [0.0, 0.0]
    for number in range(_FOLDS):
        stretch = _stretch(org_id, link_ids, _FOLDED + number)  # the number of clicks says what is drawn
        await ship_blocks(database, uuid.uuid4().hex, LogHead(), len(stretch), read_stretch(stretch).blocks)

        async def fold() -> None:
            while not (await folds.fold([org_id], merges=False)).is_all:
                pass

        used = [sum(each) for each in zip(used, await _used_by(fold, mongod), strict=True)]

    async def merge() -> None:
        while not (await folds.fold([org_id])).is_done:
            pass

    for what, seconds in (
        (f"to fold {_FOLDED:,} on {links:,} links drawn at random, {_FOLDS} times", used),
        ("to merge these into the documents of links", await _used_by(merge, mongod)),
    ):
        ours, of_mongodb = (each / _FOLDS / _FOLDED * 1e6 for each in seconds)
        print(f"{ours:.1f} µs of processor time for each click, and {of_mongodb:.1f} of MongoDB's, {what}")


def _stretch(org_id: OrgId, link_ids: Sequence[LinkId], clicks: int) -> bytes:
    """The lines of clicks of one day."""
    start = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=1)
    return b"".join(made_lines(org_id, link_ids, clicks, start, timedelta(hours=1)))


def _taken(work: Callable[[], object]) -> list[float]:
    seconds = []
    for _ in range(_TIMES):
        began = time.process_time()
        work()
        seconds.append(time.process_time() - began)
    return seconds


async def _used_by(work: Callable[[], Awaitable[None]], mongod: int) -> Sequence[float]:
    """The processor time of this process and of MongoDB, in seconds."""
    gc.collect()
    gc.disable()  # as the helper does while it folds
    began = time.process_time(), cpu_seconds_of(mongod)
    await work()
    used = time.process_time() - began[0], cpu_seconds_of(mongod) - began[1]
    gc.enable()
    return used


def _print(what: str, seconds: float, clicks: int) -> None:
    print(f"{seconds / clicks * 1e6:.1f} µs of processor time for each click, {what}", flush=True)
