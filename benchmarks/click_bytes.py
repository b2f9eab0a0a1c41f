"""Bytes on disk of a click: in a click log, and in MongoDB with the counts that it is in."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
import uuid
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

from backend.domain.click_stretch import read_stretch
from backend.domain.ids import LinkId, OrgId
from backend.settings import Settings
from backend.storage import click_blocks, click_counts, link_deltas, organization_counts
from backend.storage.click_blocks import ship_blocks
from backend.storage.click_logs import LogHead
from backend.storage.database import open_database
from backend.storage.embedded_mongodb import EmbeddedMongoDB
from backend.storage.folding import Folds
from backend.storage.mongo import Database, StorageError
from benchmarks.made_clicks import made_lines

_STORED = (click_blocks.NAME, link_deltas.NAME, click_counts.NAME, organization_counts.NAME)
_DAYS = (30, 1)
_LINES_OF_A_STRETCH = 6_000


async def print_click_bytes(links: int, clicks: int) -> None:
    """Store and count so many clicks of each of the links as the service does, and print what they take.

    Once with all of them within 30 days, and once within one day.
    """
    for days in _DAYS:
        with tempfile.TemporaryDirectory(prefix="waylink-bench-") as name:
            async with EmbeddedMongoDB(Path(name) / "mongodb") as mongodb:
                settings = replace(Settings(), mongodb_uri=mongodb.uri, data_dir=Path(name))
                async with open_database(settings) as database:
                    empty = await _bytes(database)
                    logged = await _store(database, links, clicks, days)
                    taken = {each: size - empty[each] for each, size in (await _bytes(database)).items()}
        total = links * clicks
        parts = ", ".join(f"{size / total:.1f} in {each}" for each, size in taken.items())
        print(
            f"\r{links:,} links with {clicks:,} clicks each within {days} days: "
            f"{logged / total:.0f} bytes a click in the click log, "
            f"{sum(taken.values()) / total:.1f} in MongoDB, indexes included ({parts})",
            flush=True,
        )


async def _store(database: Database, links: int, clicks: int, days: int) -> int:
    """Store and count the clicks. Returns the bytes of their lines."""
    logged = 0
    org_id = OrgId(str(uuid.uuid4()))
    link_ids = [LinkId(str(uuid.uuid4())) for _ in range(links)]
    folds = Folds(database)
    first = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=days)
    for day in range(days):
        print(f"\r  day {day + 1} of {days}", end="", flush=True)
        start = first + timedelta(days=day)
        lines = made_lines(org_id, link_ids, links * clicks // days, start, timedelta(days=1))
        logged += await _ship(database, lines)
        await _fold(folds, org_id)
    return logged


async def _ship(database: Database, lines: Iterator[bytes]) -> int:
    log_id, head = uuid.uuid4().hex, LogHead()
    while stretch := b"".join(islice(lines, _LINES_OF_A_STRETCH)):
        blocks = (await asyncio.to_thread(read_stretch, stretch)).blocks
        head = await ship_blocks(database, log_id, head, head.position + len(stretch), blocks)
    return head.position


async def _fold(folds: Folds, org_id: OrgId) -> None:
    is_done = False
    while not is_done:
        with contextlib.suppress(StorageError):  # such as one that took too long; the next try takes less
            is_done = (await folds.fold([org_id])).is_done


async def _bytes(database: Database) -> dict[str, int]:
    """What each of the collections takes on disk, once all of it is there."""
    await database.client.admin.command("fsync")
    sizes = {}
    for each in _STORED:
        stats = await database.command("collStats", each)
        sizes[each] = stats["storageSize"] + stats["totalIndexSize"]
    return sizes
