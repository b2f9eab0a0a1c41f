"""Each feed's order, while whoever writes and orders is stopped or killed."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import threading
import time
import uuid
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from backend.domain.feed.cursor import START
from backend.domain.feed.events import Event
from backend.domain.ids import LinkId, OrgId
from backend.environment import load_settings
from backend.storage.database import open_database
from backend.storage.driver.mongo import Database, StorageError
from backend.storage.feed.reading import read_feed
from backend.storage.outbox import entries
from tests.facts.clicks import click, ship
from tests.faults.feed_processes import FORM, NOW, Place, order, order_without_lease, read, write
from tests.faults.outcomes import Outcome, TellOutcome
from tests.polling import wait_for, wait_for_async
from tests.processes.forked.service import FORK_SERVER
from tests.processes.service_process import own_database

ORGANIZATIONS = 2
WRITERS, SEQUENCERS, READERS = 2, 2, 1
# One of so many transactions is stopped before its commit.
WRITERS_STOPS, SEQUENCERS_STOPS = 12, 5
SECONDS = 3.0
ENOUGH = 20  # transactions
PATIENCE = 60.0
# Behind the end of a lease, and of a transaction that is left open.
LONG_STOP = 6.0
Key = tuple[str, int]


@dataclass
class Seen:
    """What writers were told, by the clock that all processes share, and what each reader has read."""

    begun: dict[str, float] = field(default_factory=dict)
    stored: dict[str, float] = field(default_factory=dict)
    wanted: dict[str, dict[str, int]] = field(default_factory=dict)
    read: defaultdict[tuple[int, str], list[tuple[str, int, str]]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def note(self, reader: int, what: str, *told: Any) -> None:
        """Note what a process has told."""
        if what == "begins":
            link, org_ids, clicks, at = told
            self.begun[link], self.wanted[link] = at, dict.fromkeys(org_ids, clicks)
        elif what == "stored":
            self.stored[told[0]] = told[1]
        elif what == "reads":
            self.read[reader, told[0]] += [(link, number, id_) for link, number, id_ in told[1]]


class Child:
    """A process, and a thread that notes what it tells."""

    def __init__(self, work: Callable[..., None], place: Place, seen: Seen) -> None:
        self.work = work
        self._place, self._seen = place, seen
        self._connection, theirs = FORK_SERVER.Pipe()
        self.process = FORK_SERVER.Process(target=work, args=(place, theirs), daemon=True)
        self.process.start()
        theirs.close()
        self.stops = threading.Semaphore(0)
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        try:
            while True:
                what, *told = json.loads(self._connection.recv_bytes())
                if what == "stops":
                    self.stops.release()
                else:
                    self._seen.note(id(self), what, *told)
        except (EOFError, OSError):
            return

    def send(self, number: signal.Signals) -> None:
        """Send it a signal, unless it has ended."""
        with suppress(ProcessLookupError):
            os.kill(self.process.pid or 0, number)

    def replaced(self) -> Child:
        """Kill it, and start another one that does the same."""
        self.send(signal.SIGKILL)
        self.process.join()
        return Child(self.work, self._place, self._seen)

    def end(self) -> None:
        """Let it end in order, and note all that it has told."""
        self._connection.send_bytes(b"end")
        deadline = time.monotonic() + PATIENCE
        while self.process.is_alive():
            assert time.monotonic() < deadline, f"{self.work.__name__} does not end"
            self.send(signal.SIGCONT)
            self.process.join(0.05)
        self._thread.join(PATIENCE)
        assert self.process.exitcode == 0, f"{self.work.__name__} has failed"


@pytest.fixture(scope="module")
async def database(mongodb_uri: str) -> AsyncIterator[Database]:
    """The database of the feeds."""
    with own_database(mongodb_uri) as own:
        async with open_database(load_settings(own, Path("none"))) as database:
            yield database


@contextmanager
def children(seen: Seen, place: Place) -> Iterator[dict[str, list[Child]]]:
    """Writers, sequencers and readers, for the length of the block."""
    writing, ordering = replace(place, stops=WRITERS_STOPS), replace(place, stops=SEQUENCERS_STOPS)
    started = {
        "writers": [Child(write, writing, seen) for _ in range(WRITERS)],
        "sequencers": [Child(order, ordering, seen) for _ in range(SEQUENCERS)],
        "others": [Child(order_without_lease, ordering, seen)],
        "readers": [Child(read, place, seen) for _ in range(READERS)],
    }
    try:
        yield started
    finally:
        for child in [child for group in started.values() for child in group]:
            child.process.kill()


async def test_every_reader_sees_the_one_order(
    mongodb_uri: str, database: Database, times_as_long: int, outcome: TellOutcome
) -> None:
    """Whoever reads all the time reads each stored event once, in the order that everybody reads for ever."""
    place = Place(mongodb_uri, database.name, [OrgId(str(uuid.uuid4())) for _ in range(ORGANIZATIONS)])
    seen = Seen()
    with children(seen, place) as running:
        done = await asyncio.to_thread(disturb, running, seen, SECONDS * times_as_long)
        for group in ("writers", "others"):
            for child in running[group]:
                await asyncio.to_thread(child.end)
        await asyncio.to_thread(until_placed, running["sequencers"], database)
        for group in ("readers", "sequencers"):
            for child in running[group]:
                await asyncio.to_thread(child.end)
    for org_id in place.org_ids:
        page = await read_feed(database, org_id, START, url_form=FORM, limit=10_000_000)
        truth = [(event.data["link_id"], event.id) for event in page.events]
        readers = [read for (_, read_of), read in seen.read.items() if read_of == org_id]
        assert len(readers) == READERS
        for events in readers:
            assert [(link, id_) for link, _, id_ in events] == truth
            check_events(seen, org_id, events)
            check_causes(seen, events)
        found = database[entries.NAME].find({"org_id": org_id}, sort=[("place", 1)])
        places = [entry["place"] async for entry in found]
        assert places == list(range(1, len(places) + 1))
    acknowledged = sum(sum(seen.wanted[link].values()) for link in seen.stored)
    told = sum(map(len, seen.read.values())) // READERS
    cut_off = sum(sum(seen.wanted[link].values()) for link in seen.begun.keys() - seen.stored.keys())
    outcome(Outcome(f"feed, {done}", acknowledged, told, None, cut_off))
    assert len(seen.stored) >= ENOUGH
    assert not done.is_idle


@dataclass
class Disturbances:
    """How often what was done."""

    stopped: int = 0
    killed: int = 0

    @property
    def is_idle(self) -> bool:
        """Whether anything was left undone."""
        return not (self.stopped and self.killed)

    def __str__(self) -> str:
        return f"{self.stopped} stopped before a commit, and {self.killed} killed"


def disturb(running: dict[str, list[Child]], seen: Seen, seconds: float) -> Disturbances:
    """Let go on, or kill, who has stopped before a commit, some at once and some late.

    It goes on beyond its time until each of it was done once, and ENOUGH was stored.
    """
    done = Disturbances()
    end = time.monotonic() + seconds
    late: dict[Child, float] = {}
    while (now := time.monotonic()) < end or done.is_idle or len(seen.stored) < ENOUGH:
        for group in running.values():
            for number, child in enumerate(group):
                if not child.stops.acquire(blocking=False):
                    if late.get(child, now) <= now:
                        # In each round: it tells that it stops before it does.
                        child.send(signal.SIGCONT)
                    continue
                done.stopped += 1
                match random.randrange(4):
                    case 0:
                        group[number] = child.replaced()
                        done.killed += 1
                    case 1:
                        late[child] = now + random.random() * LONG_STOP
                    case _:
                        late[child] = now + random.random() * 0.3
        time.sleep(0.01)
    return done


def until_placed(sequencers: list[Child], database: Database) -> None:
    """Let the sequencers go on wherever they stop, until nothing waits for its place."""
    stored = database.delegate[entries.NAME]

    def waiting() -> int:
        for sequencer in sequencers:
            sequencer.send(signal.SIGCONT)
        left: int = stored.count_documents({"waits": True})
        return left

    wait_for(waiting, "entries wait", lambda seen: not seen, seconds=PATIENCE)


def check_events(seen: Seen, org_id: OrgId, events: list[tuple[str, int, str]]) -> None:
    """Fail unless these are all events of the organization that were acknowledged, each once.

    Of those that were not, all of a block are there, or none.
    """
    numbers = defaultdict(list)
    for link, number, _ in events:
        numbers[link].append(number)
    wanted = {link: list(range(clicks[org_id])) for link, clicks in seen.wanted.items() if org_id in clicks}
    assert {link for link in seen.stored if link in wanted} <= numbers.keys()
    assert {link: wanted[link] for link in numbers} == numbers
    assert len({id_ for _, _, id_ in events}) == len(events)


def check_causes(seen: Seen, events: list[tuple[str, int, str]]) -> None:
    """Fail if what was stored before something else began is behind that in the feed."""
    latest = 0.0
    for link in dict.fromkeys(link for link, _, _ in events):
        assert latest <= seen.stored.get(link, float("inf")), "an effect is before its cause"
        latest = max(latest, seen.begun[link])


async def test_a_stopped_sequencer_holds_up_nobody(mongodb_uri: str, database: Database) -> None:
    """Where one has stopped before its commit, another goes on as soon as the lease has ended."""
    place = Place(mongodb_uri, database.name, [OrgId(str(uuid.uuid4()))])
    lifetime = partial(database.client.admin.command, "setParameter", 1)
    await lifetime(transactionLifetimeLimitSeconds=60)  # as MongoDB has it by itself
    stopped = Child(order, replace(place, stops=1), Seen())
    await ship(database, [click(place.org_ids[0], LinkId(str(uuid.uuid4())), NOW)])
    assert await asyncio.to_thread(stopped.stops.acquire, timeout=PATIENCE)
    began = time.monotonic()
    other = Child(order, place, Seen())

    async def read_all() -> list[Event]:
        with suppress(StorageError):  # just behind the making of indexes there is no moment to read as of
            return list((await read_feed(database, place.org_ids[0], START, url_form=FORM)).events)
        return []

    events = await wait_for_async(read_all, "nothing gets a place", seconds=PATIENCE)
    assert time.monotonic() - began < PATIENCE / 3
    for sequencer in (stopped, other):
        await asyncio.to_thread(sequencer.end)
    await lifetime(transactionLifetimeLimitSeconds=5)  # as tests have it (replica_set)
    assert await read_all() == events
