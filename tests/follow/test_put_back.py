"""MongoDB was put back from a backup: what each target of the feed becomes, and what is said."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path

import pytest

from backend.storage.feed.put_backs import list_put_backs
from tests.facts.put_back import back_up, put_back
from tests.follow import parquet_files
from tests.follow.chdb_server import ChdbServer
from tests.follow.conftest import Feed
from tests.follow.made_events import event_ids
from tests.processes.postgresql import query

ROWS = "SELECT id FROM waylink_events ORDER BY place, index"
LOST = 3
# Fewer, as many and more entries come than were lost.
CAME_SINCE = pytest.mark.parametrize("came_since", [2, LOST, 5])


def rows_in(form: str, place: str) -> list[str]:
    """The ids of the rows in a target, in their order."""
    if form == "parquet":
        return parquet_files.ids(Path(place))
    return [row_id for (row_id,) in query(place, ROWS)]


async def lose(feed: Feed, form: str, place: str, came_since: int) -> None:
    """Follow a feed into a target, put MongoDB back from a backup of before, and let new entries come."""
    await feed.add(2)
    await feed.add(4)
    await feed.events()
    backup = await back_up(feed.database, feed.org_id)
    for _ in range(LOST):
        await feed.add(3)
    await feed.events()
    assert feed.follow_once(form, place).exit_code == 0
    await put_back(feed.database, feed.org_id, backup)
    for _ in range(came_since):
        await feed.add(1)


@CAME_SINCE
@pytest.mark.parametrize("form", ["postgres", "parquet"])
async def test_rows_are_those_of_the_feed(
    form: str, came_since: int, feed: Feed, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Rows of events that are no more are deleted, and those that came instead are there, each once."""
    place = str(request.getfixturevalue("warehouse") if form == "postgres" else tmp_path / "events")
    await lose(feed, form, place, came_since)
    events = event_ids(await feed.events())
    done = feed.follow_once(form, place)
    assert rows_in(form, place) == events
    assert len(events) == 6 + came_since
    assert f"{LOST * 3} events were deleted here" in done.stderr
    assert "erase them again" in done.stderr
    assert "deleted here" not in feed.follow_once(form, place).stderr
    [found] = await list_put_backs(feed.database, feed.org_id)
    assert found.reader.startswith(f"waylink follow into {form} at ")


@CAME_SINCE
async def test_rows_of_clickhouse(came_since: int, feed: Feed, chdb_server: ChdbServer) -> None:
    """In ClickHouse it is the same."""
    await lose(feed, "clickhouse", chdb_server.address, came_since)
    events = event_ids(await feed.events())
    done = feed.follow_once("clickhouse", chdb_server.address)
    question = "SELECT id FROM shop.waylink_events FINAL ORDER BY place, `index`"
    rows = str(chdb_server.session.query(question, "JSONCompactEachRow"))
    assert [json.loads(line)[0] for line in rows.splitlines()] == events
    assert f"{LOST * 3} events were deleted here" in done.stderr


@pytest.mark.parametrize(("form", "came_since"), [("csv", 5), ("ndjson", 0), ("ndjson", LOST)])
async def test_lines_cannot_be_taken_back(form: str, came_since: int, feed: Feed, tmp_path: Path) -> None:
    """A file of lines stays as it is. What is said names the cursor by which another one has the rest."""
    file, another = tmp_path / "events", tmp_path / "another"
    await lose(feed, form, str(file), came_since)
    events, before = event_ids(await feed.events()), file.read_text()
    done = feed.follow_once(form, file)
    assert done.exit_code != 0
    assert file.read_text() == before
    [cursor] = set(re.findall(r"--after ([0-9a-f.]+), which", done.stderr))
    assert feed.follow_once(form, another, "--after", cursor).exit_code == 0
    begun = [event_id for event_id in events if event_id in another.read_text()]
    assert set(events) <= {event_id for event_id in events if event_id in before} | set(begun)


async def test_printed_lines(feed: Feed) -> None:
    """Whoever goes on behind what was printed is told, also by a cursor that the feed gave to nobody else."""
    await feed.add(2)
    await feed.events()
    backup = await back_up(feed.database, feed.org_id)
    await feed.add(3)
    await feed.events()
    [cursor] = re.findall(r"--after ([0-9a-f.]+)\.", feed.follow_once("ndjson").stderr)
    await put_back(feed.database, feed.org_id, backup)
    await feed.add(1)
    await feed.events()
    done = feed.follow_once("ndjson", None, "--after", cursor)
    assert done.exit_code != 0
    assert f"has not what was before the cursor {cursor}" in " ".join(done.stderr.split())


async def test_a_follower_that_runs_notices(feed: Feed, warehouse: str, tmp_path: Path) -> None:
    """It goes back also where nothing new comes, and goes on."""
    await feed.add(2)
    await feed.events()
    backup = await back_up(feed.database, feed.org_id)
    with feed.follower(tmp_path / "log", "postgres", warehouse) as follower:
        await feed.add(3)
        await feed.events()
        await follower.says("5 events written")
        await put_back(feed.database, feed.org_id, backup)
        await follower.says("3 events were deleted here")
        await feed.add(1)
        events = event_ids(await feed.events())
        assert follower.stop(signal.SIGTERM) == 0
    feed.follow_once("postgres", warehouse)
    assert rows_in("postgres", warehouse) == events
