"""Each event once and in order, whatever dies while a feed is followed."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.follow import parquet_files as files
from tests.follow.conftest import Feed
from tests.polling import wait_for_async
from tests.processes.postgresql import PostgreSQL, query

ROWS = "SELECT id FROM waylink_events WHERE org_id = %s ORDER BY place, index"
COUNT = "SELECT count(*) FROM waylink_events WHERE org_id = %s"


def written(form: str, place: str, feed: Feed) -> list[str]:
    """The ids of the events that are in a target, in their order."""
    if form == "postgres":
        return [row_id for (row_id,) in query(place, ROWS, feed.org_id)]
    if form == "parquet":
        return files.ids(Path(place))
    return [json.loads(line)["id"] for line in Path(place).read_text().splitlines()]


def how_much(form: str, place: str, feed: Feed) -> int:
    """How much is in a target now: rows, or bytes."""
    if form == "postgres":
        exists = query(place, "SELECT to_regclass('waylink_events') IS NOT NULL")[0][0]
        return query(place, COUNT, feed.org_id)[0][0] if exists else 0
    if form == "parquet":
        return sum(path.stat().st_size for path in Path(place).rglob("*.parquet"))
    return Path(place).stat().st_size if Path(place).exists() else 0


@asynccontextmanager
async def growing(feed: Feed) -> AsyncIterator[None]:
    """For the length of the block, clicks come; the last ones are stored when it ends."""
    is_over = asyncio.Event()

    async def grow() -> None:
        while not is_over.is_set():
            await feed.add(random.randint(1, 20))
            await asyncio.sleep(0.1)

    task = asyncio.create_task(grow())
    try:
        yield
    finally:
        is_over.set()
        await task


async def assert_whole(feed: Feed, form: str, place: str) -> None:
    """A follower that nobody disturbs brings what is missing, and then each event is there once."""
    expected = [event.id for event in await feed.events()]
    done = await asyncio.to_thread(feed.follow_once, form, place)
    assert done.exit_code == 0, done.stderr
    ids = await asyncio.to_thread(written, form, place, feed)
    assert len(ids) == len(expected), done.stderr
    assert ids == expected


@pytest.fixture
def place(form: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where events of this form go: a database, a folder or a file."""
    return str(request.getfixturevalue("warehouse")) if form == "postgres" else str(tmp_path / "events")


@pytest.mark.parametrize("form", ["ndjson", "parquet", "postgres"])
async def test_killed_again_and_again(form: str, place: str, feed: Feed, tmp_path: Path) -> None:
    """A follower is killed at random moments while events come: none is missing, none is there twice."""
    await feed.add(2_000)
    async with growing(feed):
        for _ in range(3):
            before = await asyncio.to_thread(how_much, form, place, feed)
            with feed.follower(tmp_path / "log", form, place):

                async def more(before: int = before) -> bool:
                    return await asyncio.to_thread(how_much, form, place, feed) > before

                await wait_for_async(more, "nothing is written")
                await asyncio.sleep(random.uniform(0, 0.15))
    await assert_whole(feed, form, place)


async def test_the_database_restarts(
    feed: Feed, tmp_path: Path, postgres: PostgreSQL, warehouse: str
) -> None:
    """PostgreSQL is killed at random moments: the follower goes on once it is back, and each event is there
    once."""
    async with growing(feed):
        with feed.follower(tmp_path / "log", "postgres", warehouse) as follower:
            await follower.says("Everything is there")
            for number in range(2):
                await asyncio.sleep(random.uniform(0, 0.2))
                await asyncio.to_thread(postgres.restart)
                await wait_for_async(follower.times_going_on, "it goes on", number.__lt__)
            assert "PostgreSQL can't be used now" in follower.text
            assert follower.stop() == 0, follower.text
    await assert_whole(feed, "postgres", warehouse)


@pytest.mark.parametrize("form", ["ndjson", "postgres"])
async def test_a_second_follower_waits(form: str, place: str, feed: Feed, tmp_path: Path) -> None:
    """Two followers of one target take turns: the second waits, and goes on when the first is killed."""
    async with growing(feed):
        with feed.follower(tmp_path / "first", form, place) as first:
            await first.says("Everything is there")
            with feed.follower(tmp_path / "second", form, place) as second:
                await second.says("Another follower writes")
                refused = await asyncio.to_thread(feed.follow_once, form, place)
                assert (refused.exit_code, refused.stdout) == (1, "")
                assert "Another follower writes" in refused.stderr
                first.process.kill()
                await second.says("Everything is there")
                assert second.stop() == 0, second.text
    await assert_whole(feed, form, place)
