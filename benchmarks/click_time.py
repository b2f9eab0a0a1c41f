"""Processor time that a click takes on its way from the log to the counts, without MongoDB's own."""

from __future__ import annotations

import tempfile
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from backend.domain.click_block import unpack
from backend.domain.click_stretch import read_stretch
from backend.domain.ids import LinkId, OrgId
from backend.settings import Settings
from backend.storage.click_blocks import ship_blocks
from backend.storage.click_folds import Folds
from backend.storage.database import open_database
from backend.storage.embedded_mongodb import EmbeddedMongoDB
from backend.storage.mongo import Database
from benchmarks.made_clicks import made_lines

_LINES = 6_000  # about what a shipper reads at a time
_FOLDED = 20_000  # clicks
_LINKS = (20_000, 1_000)
_TIMES = 5


async def print_click_time() -> None:
    """Print how long it takes to read lines, to read a block and to fold, each the fastest of five times."""
    stretch = _stretch(OrgId(str(uuid.uuid4())), links=1_000, clicks=_LINES)
    (block,) = read_stretch(stretch).blocks
    _print("to read, check and pack lines", min(_taken(lambda: read_stretch(stretch))), _LINES)
    _print("to read a block", min(_taken(lambda: unpack(block.packed))), _LINES)
    with tempfile.TemporaryDirectory(prefix="waylink-bench-") as name:
        async with EmbeddedMongoDB(Path(name) / "mongodb") as mongodb:
            settings = replace(Settings(), mongodb_uri=mongodb.uri, data_dir=Path(name))
            async with open_database(settings) as database:
                for links in _LINKS:
                    seconds = [await _fold(database, links) for _ in range(_TIMES)]
                    _print(f"to fold {_FOLDED:,} on {links:,} links drawn at random", min(seconds), _FOLDED)


async def _fold(database: Database, links: int) -> float:
    """The processor time to fold clicks of so many new links."""
    org_id = OrgId(str(uuid.uuid4()))
    stretch = _stretch(org_id, links, _FOLDED)
    await ship_blocks(database, uuid.uuid4().hex, 0, len(stretch), read_stretch(stretch).blocks)

    async def fold() -> None:
        folds = Folds(database)
        while not (await folds.fold([org_id])).is_all:
            pass

    return await _taken_by(fold)


def _stretch(org_id: OrgId, links: int, clicks: int) -> bytes:
    """The lines of clicks of one day."""
    link_ids = [LinkId(str(uuid.uuid4())) for _ in range(links)]
    start = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=1)
    return b"".join(made_lines(org_id, link_ids, clicks, start, timedelta(hours=1)))


def _taken(work: Callable[[], object]) -> list[float]:
    seconds = []
    for _ in range(_TIMES):
        began = time.process_time()
        work()
        seconds.append(time.process_time() - began)
    return seconds


async def _taken_by(work: Callable[[], Awaitable[None]]) -> float:
    began = time.process_time()
    await work()
    return time.process_time() - began


def _print(what: str, seconds: float, clicks: int) -> None:
    print(f"{seconds / clicks * 1e6:.1f} µs of processor time for each click, {what}", flush=True)
