"""Bytes on disk of a click: in a click log, in MongoDB, and in columns; alone, and once days are added up."""

from __future__ import annotations

import asyncio
import tempfile
import uuid
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

from backend.domain.clicks.stretch import read_stretch
from backend.domain.ids import LinkId, OrgId
from backend.settings import Settings
from backend.storage.accounts import organizations
from backend.storage.clicks import blocks as click_blocks
from backend.storage.clicks import summaries as click_summaries
from backend.storage.clicks.blocks import ship_blocks
from backend.storage.clicks.expired_days import sum_expired
from backend.storage.clicks.logs import LogHead
from backend.storage.columns.loading import load
from backend.storage.columns.tables.column_files import paths_of
from backend.storage.columns.tables.store import ColumnStore, EngineBounds
from backend.storage.database import open_database
from backend.storage.driver.mongo import Database
from backend.storage.embedded.mongodb import EmbeddedMongoDB
from backend.storage.outbox import entries
from benchmarks.data.made_clicks import made_lines

_DAYS = (30, 1)
_LINES_OF_A_STRETCH = 6_000
_EXPIRED = timedelta(days=500)


async def print_click_bytes(links: int, clicks: int) -> None:
    """Store so many clicks of each of the links as the service does, and print what they take.

    Once with all of them within 30 days, and once within one day.
    """
    for days in _DAYS:
        with tempfile.TemporaryDirectory(prefix="waylink-bench-") as name:
            async with EmbeddedMongoDB(Path(name) / "mongodb") as mongodb:
                settings = replace(Settings(), mongodb_uri=mongodb.uri, data_dir=Path(name))
                async with open_database(settings) as database:
                    print(f"\r{links:,} links with {clicks:,} clicks each within {days} days:", flush=True)
                    await _print(database, links, clicks, days)


async def _print(database: Database, links: int, clicks: int, days: int) -> None:
    now, total = datetime.now(UTC), links * clicks
    org_id = (await organizations.create_organization(database, "Bench", now)).id
    empty = {name: await _bytes(database, name) for name in (click_blocks.NAME, entries.NAME)}
    logged = await _store(database, org_id, links, total, days)
    blocks, feed = [(await _bytes(database, name) - size) / total for name, size in empty.items()]
    columns = await _in_columns(database, org_id) / total
    print(
        f"\r  single clicks: {logged / total:.1f} bytes each in the click log, {blocks:.1f} in blocks with "
        f"their indexes, {feed:.2f} in the feed, {columns:.1f} in columns",
        flush=True,
    )
    await sum_expired(database, org_id, now + _EXPIRED)
    summaries = await _bytes(database, click_summaries.NAME) / total
    columns = await _in_columns(database, org_id) / total
    print(
        f"  days added up: {summaries:.1f} bytes a click in summaries with their indexes, "
        f"{columns:.1f} in columns",
        flush=True,
    )


async def _store(database: Database, org_id: OrgId, links: int, clicks: int, days: int) -> int:
    """Store the clicks. Returns the bytes of their lines."""
    logged = 0
    link_ids = [LinkId(str(uuid.uuid4())) for _ in range(links)]
    first = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=days)
    for day in range(days):
        print(f"\r  day {day + 1} of {days}", end="", flush=True)
        start = first + timedelta(days=day)
        logged += await _ship(
            database, made_lines(org_id, link_ids, clicks // days, start, timedelta(days=1))
        )
    return logged


async def _ship(database: Database, lines: Iterator[bytes]) -> int:
    log_id, head = uuid.uuid4().hex, LogHead()
    while stretch := b"".join(islice(lines, _LINES_OF_A_STRETCH)):
        blocks = (await asyncio.to_thread(read_stretch, stretch)).blocks
        head = await ship_blocks(database, log_id, head, head.position + len(stretch), blocks)
    return head.position


async def _bytes(database: Database, collection: str) -> int:
    """What the collection takes on disk, once all of it is there."""
    await database.client.admin.command("fsync")
    stats = await database.command("collStats", collection)
    return int(stats["storageSize"] + stats["totalIndexSize"])


async def _in_columns(database: Database, org_id: OrgId) -> int:
    """What the organization's columns take, when they are made now."""
    with tempfile.TemporaryDirectory(prefix="waylink-bench-") as name:
        store = ColumnStore(Path(name), EngineBounds())
        files = store.attach(org_id, datetime.now(UTC))
        await load(database, org_id, files.written())
        files.close()
        store.close()
        return sum(path.stat().st_size for path in paths_of(store.folder, org_id))
