"""MongoDB stopped under load, with two worker processes: for 6 seconds, or with --long for a minute."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.faults.links import DOMAIN, follow, give_password, new_limited_link, new_link, wait_for_clicks
from tests.faults.outcomes import Outcome, TellOutcome
from tests.polling import until, wait_for
from tests.processes.replica_set import ReplicaSet
from tests.processes.service_process import ServiceProcess, service_process

# Longer than the time to live below, and than what the service gives the database to answer.
OUTAGE_SECONDS = 6
WORKERS = 2
VISITORS = 2
# Seconds between two visits of one visitor; with --long they come at once, which shows how many are answered.
PAUSE = 0.05
MORE = 50


@dataclass
class Visits:
    """What visitors got: what was not a redirect, and of each redirect when it was asked for and how long
    it took, in seconds."""

    service: ServiceProcess
    path: str
    redirects: list[tuple[float, float]] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    pause: float = PAUSE
    stopped: bool = False

    @asynccontextmanager
    async def load(self) -> AsyncIterator[None]:
        """Visitors who follow the link one visit after the other, for the length of the block."""
        async with asyncio.TaskGroup() as visitors:
            for _ in range(VISITORS):
                visitors.create_task(self._visit_often())
            try:
                yield
            finally:
                self.stopped = True

    async def _visit_often(self) -> None:
        async with self._client() as client:
            while not self.stopped:
                await self._visit(client)
                await asyncio.sleep(self.pause)

    async def _visit(self, client: httpx.AsyncClient) -> None:
        began = time.monotonic()
        try:
            status = (await client.get(self.path, timeout=30)).status_code
        except httpx.TransportError as error:
            self.others.append(repr(error))
            return
        if status == 302:
            self.redirects.append((began, time.monotonic() - began))
        else:
            self.others.append(str(status))

    async def wait_for(self, more: int) -> None:
        """Return when so many more visits were redirected."""
        least = len(self.redirects) + more
        await until(lambda: len(self.redirects) >= least, "visits are not redirected", seconds=60)

    async def warm(self, data_dir: Path) -> None:
        """Follow the link on new connections until each worker has it in memory: each has written clicks."""
        async with asyncio.timeout(60):
            while sum(log.stat().st_size > 0 for log in (data_dir / "clicks").glob("*.log")) < WORKERS:
                async with self._client() as client:
                    await self._visit(client)

    def _client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=self.service.base_url, headers={"host": DOMAIN})

    def in_words(self, begin: float, end: float) -> str:
        """How many redirects a second there were in that time, and how long the slowest ones took."""
        took = sorted(seconds for began, seconds in self.redirects if begin <= began < end)
        p99 = took[len(took) * 99 // 100] * 1000
        return f"{len(took) / (end - begin):.0f}/s, p99 {p99:.0f} ms, slowest {took[-1] * 1000:.0f} ms"


def follow_at_last(service: ServiceProcess, path: str) -> int:
    """The status that a visitor gets of a worker that knows that the database is back."""
    return wait_for(lambda: follow(service, path), "it stays away", lambda status: status != 503, seconds=60)


async def test_redirects_go_on_while_the_database_is_stopped(
    members: ReplicaSet,
    own: dict[str, str],
    tmp_path: Path,
    times_as_long: int,
    outcome: TellOutcome,
    tell: Callable[[str], None],
) -> None:
    """A link in memory redirects without one error; every click is counted once when MongoDB is back. A link
    with so many clicks does not redirect meanwhile, since nobody knows how many are left, and no password is
    tried, since tries can't be counted."""
    seconds = OUTAGE_SECONDS * times_as_long
    settings = own | {"WAYLINK_WORKERS": str(WORKERS), "WAYLINK_LINK_CACHE_SECONDS": "1"}
    with service_process(tmp_path, **settings) as service:
        link = new_link(service)
        limited = new_limited_link(service, link["key"], max_clicks=2)
        guarded = new_limited_link(service, link["key"], password="kites")
        assert (follow(service, limited), give_password(service, guarded, "kites")) == (302, 303)
        visits = Visits(service, link["path"], pause=PAUSE if times_as_long == 1 else 0)
        await visits.warm(tmp_path)
        async with visits.load():
            loaded = time.monotonic()
            await visits.wait_for(MORE * times_as_long)
            with members.frozen():
                stopped = time.monotonic()
                assert await asyncio.to_thread(follow, service, limited) == 503
                assert await asyncio.to_thread(give_password, service, guarded, "kites") == 503
                await asyncio.sleep(seconds)  # the outage itself
            back = time.monotonic()
            await visits.wait_for(MORE * times_as_long)
        ended = time.monotonic()
        assert [follow_at_last(service, limited) for _ in range(3)][1:] == [404, 404]
        counted = await asyncio.to_thread(wait_for_clicks, service, link, len(visits.redirects))
    waited = time.monotonic() - ended
    tell(f"before: {visits.in_words(loaded, stopped)}; while MongoDB was stopped for {seconds:.0f} s: "
         f"{visits.in_words(stopped, back)}; after: {visits.in_words(back, ended)}")  # fmt: skip
    tell(f"{len(visits.redirects)} redirects, {len(visits.others)} errors, {counted} clicks counted "
         f"{waited:.1f} s after the last one")  # fmt: skip
    longest = max(waited for _, waited in visits.redirects)
    outcome(
        Outcome(f"MongoDB hung for {seconds:.0f} s, two workers", len(visits.redirects), counted, longest)
    )
    assert visits.others == []
    assert counted == len(visits.redirects)
