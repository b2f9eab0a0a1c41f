"""What `waylink follow` says, where it begins, and how it ends."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import signal
import subprocess
from pathlib import Path

import pytest

from backend.domain.feed.cursor import Cursor
from tests.follow.conftest import Feed
from tests.processes.forked.service import forked
from tests.processes.service_process import WAYLINK


def printed_ids(text: str) -> list[str]:
    """The ids of printed lines of JSON."""
    return [json.loads(line)["id"] for line in text.splitlines()]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_ends_it_with_its_cursor(number: signal.Signals, feed: Feed, tmp_path: Path) -> None:
    """Ctrl-C and SIGTERM end it in order: it says where it was, and the next run goes on there."""
    await feed.add(3)
    last = (await feed.events())[-1]
    with feed.follower(tmp_path / "log", "ndjson", tmp_path / "events") as follower:
        await follower.says("Everything is there; waiting for more.")
        assert follower.stop(number) == 0
    stopped_at = Cursor(last.cursor.place + 1, mark=last.cursor.mark)
    assert f"Stopped at cursor {stopped_at}: 3 events written." in follower.text
    await feed.add(2)
    events = [event.id for event in await feed.events()]
    assert "2 events written" in feed.follow_once("ndjson", tmp_path / "events").stderr
    assert printed_ids((tmp_path / "events").read_text()) == events


async def test_where_it_begins(feed: Feed) -> None:
    """At the beginning, behind a cursor, now or at a time; it says how to go on with what is printed."""
    await feed.add(3)
    events = await feed.events()
    whole = feed.follow_once("ndjson")
    assert printed_ids(whole.stdout) == [event.id for event in events]
    assert [json.loads(line)["data"]["counted"] for line in whole.stdout.splitlines()] == [True] * 3
    assert "Go on with --after 3.0" in whole.stderr
    for after, expected in (
        (str(events[0].cursor), events[1:]),
        ("now", []),
        ("2020-01-01", events),
        ("2099-01-01T00:00:00Z", []),
    ):
        done = feed.follow_once("ndjson", None, "--after", after)
        assert printed_ids(done.stdout) == [event.id for event in expected]
    assert feed.follow_once("ndjson", None, "--types", "lead,conversion").stdout == ""
    assert len(feed.follow_once("csv", None, "--types", "click").stdout.splitlines()) == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("csv", None, "--after", "yesterday"),
            "is neither a cursor that a feed gave, nor beginning, now or",
        ),
        (("csv", None, "--after", "9.0"), "is behind the end of this organization's feed, "),
        (("csv", None, "--types", "clicks"), "They are link.created, link.changed"),
        (("csv", "postgresql://db"), "use --into postgres"),
        (("postgres",), "Name the database by --to"),
        (("postgres", "postgresql://db?nothing=1"), "can't be read as an address of PostgreSQL"),
    ],
)
def test_what_is_refused(options: tuple[str, ...], message: str, feed: Feed) -> None:
    """What can't be followed is named, with what to do."""
    done = feed.follow_once(*options)
    assert done.exit_code != 0
    assert message in " ".join(done.stderr.split())


async def test_a_cursor_without_a_mark(feed: Feed, tmp_path: Path) -> None:
    """It is a place alone. One that the feed has not reached is refused."""
    await feed.add(1)
    await feed.events()
    assert feed.follow_once("csv", tmp_path / "events").exit_code == 0
    beside = tmp_path / "events.cursor"
    beside.write_text(re.sub(r'"3\.0\.[0-9a-f]{16}"', '"5.0"', beside.read_text()))
    assert "which has not given it" in feed.follow_once("csv", tmp_path / "events").stderr


async def test_nobody_reads_any_more(feed: Feed) -> None:
    """`waylink follow … | head` ends quietly."""
    await feed.add(1_000)
    await feed.events()
    script = f"set -o pipefail; {shlex.join([*WAYLINK, *feed.command('csv')])} | head -n 1"
    done = await asyncio.to_thread(
        subprocess.run,
        ["bash", "-c", script],
        capture_output=True, text=True, env=feed.service.environment, timeout=60,
    )  # fmt: skip
    assert done.stdout.startswith("id,type,at,org_id,")
    assert (done.returncode, "rror" in done.stderr) == (0, False)


def test_files_need_no_driver(feed: Feed, tmp_path: Path) -> None:
    """What PostgreSQL needs is extra: without it the command works, and says what to install."""
    for command, message in (
        (feed.command("csv"), "Following 'Acme'"),
        (feed.command("postgres", "postgresql://db"), "pip install 'waylink[postgres]'"),
    ):
        log = tmp_path / "log"
        arguments = (*command, "--once")
        with forked(feed.service.environment, log, "tests.follow.without_driver", arguments) as (process, _):
            process.wait(60)
        assert message in log.read_text()
