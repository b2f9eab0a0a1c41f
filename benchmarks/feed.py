"""What the feed costs, and how fast it is: storing, ordering, reading, and the delay until a reader knows.

`python -m benchmarks.feed` starts a MongoDB and calls the service's own code in this process. It prints:

- events read a second, in pages of 5,000, compared with only unpacking the same blocks;
- entries that a sequencer gives their places a second;
- processor time to ship a block, with the note for the feed and without, by turns;
- the delay from a block that is stored to a reader who waits: for lone ones, and beside a load.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import statistics
import tempfile
import time
import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from backend.domain.clicks.block import Block, unpack
from backend.domain.clicks.stretch import read_stretch
from backend.domain.feed.cursor import START, Cursor
from backend.domain.ids import LinkId, OrgId
from backend.domain.web.short_urls import ShortUrlForm
from backend.settings import Settings
from backend.storage.clicks.blocks import ship_blocks
from backend.storage.clicks.logs import LogHead
from backend.storage.database import open_database
from backend.storage.driver.mongo import Database
from backend.storage.embedded.mongodb import EmbeddedMongoDB
from backend.storage.feed.reading import read_feed
from backend.storage.outbox import entries
from backend.storage.outbox.heads import find_heads
from backend.storage.outbox.sequencer import MOST_PER_TRANSACTION, Sequencer, place_waiting
from backend.storage.outbox.watch import FeedWatch
from benchmarks.data.made_clicks import made_lines
from benchmarks.ingest import mongod_pid
from benchmarks.measuring.servers import cpu_seconds_of
from benchmarks.measuring.spread import spread

_BLOCK = 2_000  # clicks
_LOAD_PAUSE = 0.01  # seconds between two blocks of the load


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--blocks", type=int, default=50, help=f"blocks of {_BLOCK:,} clicks to read")
    options.add_argument("--rounds", type=int, default=15, help="how often shipping is measured, 2 at least")
    options.add_argument("--delays", type=int, default=40, help="how often the delay is measured")
    arguments = options.parse_args()
    asyncio.run(_measure(arguments.blocks, max(2, arguments.rounds), max(2, arguments.delays)))


async def _measure(blocks: int, rounds: int, delays: int) -> None:
    with tempfile.TemporaryDirectory(prefix="waylink-bench-") as name:
        async with EmbeddedMongoDB(Path(name) / "mongodb") as mongodb:
            settings = replace(Settings(), mongodb_uri=mongodb.uri, data_dir=Path(name))
            async with open_database(settings) as database:
                await _print_reading(database, blocks)
                await _print_placing(database)
                await _print_shipping(database, mongod_pid(Path(name)), rounds)
                await _print_delays(database, delays)


def _blocks(org_id: OrgId, clicks: int) -> Sequence[Block]:
    day = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=1)
    links = [LinkId(str(uuid.uuid4())) for _ in range(100)]
    return read_stretch(b"".join(made_lines(org_id, links, clicks, day, timedelta(hours=1)))).blocks


def _new_organization() -> OrgId:
    return OrgId(str(uuid.uuid4()))


async def _ship(database: Database, blocks: Sequence[Block]) -> None:
    await ship_blocks(database, uuid.uuid4().hex, LogHead(), 1, blocks)


async def _print_reading(database: Database, blocks: int) -> None:
    org_id = _new_organization()
    stored = _blocks(org_id, _BLOCK)
    for _ in range(blocks):
        await _ship(database, stored)
    await place_waiting(database)
    began = time.monotonic()
    for _ in range(blocks):
        assert len(list(unpack(stored[0].packed).clicks(org_id))) == _BLOCK
    unpacked = time.monotonic() - began
    began, cursor, read, has_more = time.monotonic(), START, 0, True
    while has_more:
        page = await read_feed(database, org_id, cursor, url_form=ShortUrlForm())
        cursor, has_more, read = page.next_cursor, page.has_more, read + len(page.events)
    took = time.monotonic() - began
    assert read == blocks * _BLOCK
    print(
        f"reading: {read / took:,.0f} events/s, {took / unpacked:.1f} times as long as unpacking the blocks"
    )


async def _print_placing(database: Database) -> None:
    facts = {_new_organization(): [{"type": "click", "block": "x" * 40, "clicks": 1}] for _ in range(50)}
    async with await database.client.start_session() as session:
        for _ in range(5 * MOST_PER_TRANSACTION // len(facts)):
            await entries.note(database, session, facts)
    began, placed = time.monotonic(), 0
    while now := await place_waiting(database):
        placed += now
    print(f"ordering: {placed / (time.monotonic() - began):,.0f} entries/s, of {len(facts)} organizations")


async def _print_shipping(database: Database, mongod: int, rounds: int) -> None:
    """Print the ratio of processor time, of this process and MongoDB, with and without a note in the feed."""
    blocks = _blocks(_new_organization(), 100)
    note = entries.note

    async def nothing(*_: object, **__: object) -> None:
        """Leave the feed out."""

    async def used() -> float:
        began = time.process_time() + cpu_seconds_of(mongod)
        for _ in range(60):
            await _ship(database, blocks)
        return (time.process_time() + cpu_seconds_of(mongod) - began) / 60 * 1000

    await used()
    pairs = []
    for _ in range(rounds):
        with_note = await used()
        entries.__dict__["note"] = nothing
        try:
            pairs.append((with_note, await used()))
        finally:
            entries.__dict__["note"] = note
    while await place_waiting(database):
        pass
    added = statistics.median(ours - bare for ours, bare in pairs)
    print(
        f"shipping a block: {added:.2f} ms more of processor time with its note, ours and MongoDB's; "
        f"ratio {spread([ours / bare for ours, bare in pairs])}"
    )


async def _print_delays(database: Database, times: int) -> None:
    watch = FeedWatch(database)
    sequencer = Sequencer(database)
    await watch.start()
    await sequencer.start()
    try:
        _print_delay("lone", await _delays(database, watch, times, pause=0.5))
        load = asyncio.create_task(_load(database))
        _print_delay("beside a load", await _delays(database, watch, times, pause=0.05))
        load.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await load
    finally:
        await sequencer.stop()
        await watch.stop()


async def _load(database: Database) -> None:
    """Ship blocks of other organizations until cancelled."""
    made = [_blocks(_new_organization(), 100) for _ in range(10)]
    while True:
        await asyncio.gather(*(_ship(database, blocks) for blocks in made))
        await asyncio.sleep(_LOAD_PAUSE)


async def _delays(database: Database, watch: FeedWatch, times: int, pause: float) -> list[float]:
    org_id = _new_organization()
    blocks = _blocks(org_id, 1)
    seconds = []
    for _ in range(times):
        head = (await find_heads(database, [org_id]))[org_id]
        waiting = asyncio.create_task(watch.wait(org_id, Cursor(head + 1), 60))
        await asyncio.sleep(pause)
        await _ship(database, blocks)
        began = time.monotonic()
        assert await waiting
        await read_feed(database, org_id, Cursor(head + 1), url_form=ShortUrlForm())
        seconds.append(time.monotonic() - began)
    return seconds


def _print_delay(which: str, seconds: Sequence[float]) -> None:
    middle, late = statistics.median(seconds), statistics.quantiles(seconds, n=20)[-1]
    print(f"from stored to read, {which}: median {middle * 1000:.0f} ms, 95 % within {late * 1000:.0f} ms")


if __name__ == "__main__":
    main()
