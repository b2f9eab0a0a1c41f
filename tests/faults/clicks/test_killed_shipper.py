"""kill -9 of what ships clicks and merges blocks, between any two commands to MongoDB."""

from __future__ import annotations

import asyncio
import itertools
import random
import signal
import uuid
from pathlib import Path

from bson import Binary

from backend.domain.ids import LinkId
from backend.redirector.click_log.shipper import Shipper
from tests.facts.clicks import recorded_clicks
from tests.faults.killed_shipper import ship_until_killed
from tests.faults.outcomes import Outcome, TellOutcome
from tests.faults.visited_link import VisitedLink
from tests.processes.forked.service import FORK_SERVER

LINKS = 3
# Without --long, a process is killed before every second command, from either of the first two on.
STEP = 2


async def test_clicks_count_once_whenever_it_is_killed(
    link: VisitedLink, tmp_path: Path, times_as_long: int, outcome: TellOutcome
) -> None:
    """Whatever was the last command of a process that was killed, the next one counts each click once."""
    others = [LinkId(str(uuid.uuid4())) for _ in range(LINKS - 1)]
    lines = [link.record(), *map(link.record, others)] * 2
    clicks, killed = 0, 0
    step = STEP if times_as_long == 1 else 1
    for number in itertools.count(random.randrange(step), step):
        (tmp_path / f"{uuid.uuid4().hex}.log").write_bytes(b"".join(lines))
        clicks += len(lines)
        is_killed = await asyncio.to_thread(run, link, tmp_path, number)
        killed += is_killed
        await Shipper(link.database, tmp_path, tmp_path / "unreadable").stop()
        assert len(await recorded_clicks(link.database, link.org_id)) == clicks
        assert await link.counted() == clicks // LINKS
        if not is_killed:
            break
    assert killed >= 12 // step
    outcome(Outcome(f"kill -9 of shipper and merger, {killed} times", clicks, clicks))


def run(link: VisitedLink, folder: Path, number: int) -> bool:
    """Ship in a process that is killed before this command. Gives False if it had come to its end."""
    receiving, sending = FORK_SERVER.Pipe(duplex=False)
    process = FORK_SERVER.Process(
        target=ship_until_killed, args=(link.mongodb_uri, link.database.name, folder, number, sending)
    )
    process.start()
    sending.close()
    sessions = set()
    try:
        while True:
            sessions.add(receiving.recv_bytes())
    except EOFError:
        process.join()
    end_sessions(link, sessions)
    assert process.exitcode in {0, -signal.SIGKILL}
    return process.exitcode != 0


def end_sessions(link: VisitedLink, sessions: set[bytes]) -> None:
    """End what the process has left open, as MongoDB does by itself a minute later."""
    ids = [{"id": Binary(session, 4)} for session in sessions]
    link.database.client.delegate.admin.command("killSessions", ids)
