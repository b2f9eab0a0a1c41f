"""Clicks answered and shipped while the load goes on, until the last one is in the analytics, and stored.

`python -m benchmarks.clicks` measures on Hypercorn, and on Granian if it is installed, each with one worker
process, with wrk as the load. It prints, in this order:

- for 1,000 and for 100,000 links: redirects answered and clicks shipped per second over a minute, their
  ratio, what waits at the end, the seconds until all is in the analytics, where it must be exactly equal to
  what the service has answered; the seconds from an answer until an answer of the analytics has the click, of
  one link that is clicked beside the load and once a second without (target: 0.3); and the memory of the
  service, and of the process that answers questions, over all of it;
- redirects' times while a backlog of an earlier process is shipped beside them, and without one, by turns;
- bytes on disk of a click, for 1,000 links with 1,000 clicks each;
- processor time of a click on its way into the analytics.

On a machine with two or more cores, the servers have a core of their own, and wrk, MongoDB and the process
that answers questions the rest.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import importlib.util
import re
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx

from backend.domain.ids import LinkId, OrgId
from backend.settings import Settings
from backend.storage.analytics.clicks.click_windows import ClicksOfLinks, ClickWindow
from backend.storage.analytics.client import Analytics
from backend.storage.clicks import blocks as click_blocks
from backend.storage.database import open_database
from backend.storage.driver.mongo import Database
from backend.storage.embedded.mongodb import EmbeddedMongoDB
from backend.storage.links import links as stored_links
from benchmarks.data.made_clicks import leave_behind, made_lines
from benchmarks.data.stored_links import new_link, path_of, prepare_domain, store_links
from benchmarks.measuring.analytics_process import AnalyticsProcess
from benchmarks.measuring.click_bytes import print_click_bytes
from benchmarks.measuring.click_time import print_click_time
from benchmarks.measuring.cores import leave_a_core
from benchmarks.measuring.servers import GRANIAN, HYPERCORN, Server, service
from benchmarks.measuring.spread import spread
from benchmarks.measuring.wrk import HOST, require_wrk, visit_links
from tests.facts.stored_links import insert_links

_FEW_LINKS, _MANY_LINKS = 1_000, 100_000
PARTS = ("load", "backlog", "disk", "time")
# Not one of those that wrk asks for: its number is beyond them.
_WATCHED = 1_000_000
_WARMING_SECONDS = 5
_LONGEST_WARMING = 240.0
_LONGEST_WAIT = 600.0
_SAMPLE_EVERY = 0.25
_TIMED_SECONDS = 5
_SETTLING = 0.2  # of the load's time; what is shipped comes a little behind it
_EVER = datetime(2012, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Bench:
    """A running service with links, the database that it ships to, and who asks for the analytics."""

    server: Server
    database: Database
    analytics: Analytics
    process: AnalyticsProcess
    org_id: OrgId
    watched: LinkId
    folder: Path

    async def counted(self) -> int:
        """The clicks of all links, as whoever asks is told."""
        return sum((await self.analytics.ask(self.org_id, ClicksOfLinks(_EVER))).values())

    async def shipped(self) -> int:
        """The clicks in blocks."""
        group = {"$group": {"_id": None, "clicks": {"$sum": "$clicks"}}}
        totals = self.database[click_blocks.NAME].aggregate([{"$match": {"org_id": self.org_id}}, group])
        return sum([total["clicks"] async for total in totals])

    async def answered(self) -> int:
        """The redirects that the service says it has answered."""
        return int(await self._metric(r'waylink_redirects_total\{status="302"\}'))

    async def waiting_bytes(self) -> int:
        """The bytes of clicks that are not in the database."""
        return int(await self._metric("waylink_clicks_waiting_bytes"))

    async def _metric(self, name: str) -> float:
        async with httpx.AsyncClient(timeout=30) as client:
            text = (await client.get(f"{self.server.url}/metrics")).raise_for_status().text
        match = re.search(rf"^{name}\S* (\S+)$", text, re.MULTILINE)
        return float(match[1]) if match else 0.0

    async def until_counted(self, left_behind: int = 0) -> float:
        """Wait until every redirect is in the analytics, and so many clicks that were left behind.

        Returns the seconds. Raises RuntimeError if it takes too long, or if one was counted twice.
        """
        began = time.monotonic()
        answered = await self.answered() + left_behind
        while (counted := await self.counted()) < answered:
            if time.monotonic() > began + _LONGEST_WAIT:
                raise RuntimeError(f"of {answered:,} redirects, {counted:,} clicks are counted")
            await asyncio.sleep(0.05)
        if counted > answered:
            raise RuntimeError(f"{answered:,} redirects answered, {counted:,} clicks counted")
        return time.monotonic() - began

    async def click_watched(self) -> float:
        """Click the link that wrk leaves alone. Returns the seconds until an answer of analytics has that."""
        before = await self._watched_clicks()
        async with httpx.AsyncClient(timeout=30) as client:
            headers = {"Host": HOST}
            answer = await client.get(f"{self.server.url}/{path_of(_WATCHED)}", headers=headers)
        began = time.monotonic()
        assert answer.status_code == httpx.codes.FOUND
        while await self._watched_clicks() == before:  # noqa: ASYNC110 - another process ships
            await asyncio.sleep(0.01)
        return time.monotonic() - began

    async def _watched_clicks(self) -> int:
        return (await self.analytics.ask(self.org_id, ClickWindow(self.watched, datetime.now(UTC)))).total


@dataclass(frozen=True, slots=True)
class Seen:
    """Redirects answered and clicks shipped at a moment, in seconds of the monotonic clock."""

    at: float
    answered: int
    shipped: int

    @classmethod
    async def of(cls, bench: Bench) -> Seen:
        """What there is now."""
        shipped, at = await bench.shipped(), time.monotonic()
        return cls(at, await bench.answered(), shipped)


@dataclass(slots=True)
class Watch:
    """What is seen beside a load: memory at most, and the seconds until a click was in the analytics."""

    megabytes: float = 0.0
    seconds: list[float] = field(default_factory=list)

    async def watch_memory(self, server: Server) -> None:
        """Look at it until cancelled."""
        while True:
            self.megabytes = max(self.megabytes, server.megabytes)
            await asyncio.sleep(_SAMPLE_EVERY)

    async def watch_delay(self, bench: Bench) -> None:
        """Click the link that is watched, again and again, until cancelled."""
        while True:
            self.seconds.append(await bench.click_watched())


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--seconds", type=int, default=60, help="how long the load goes on")
    options.add_argument("--server", choices=(HYPERCORN, GRANIAN), action="append", help="only on this one")
    options.add_argument(
        "--links", type=int, action="append", help="for so many links, not 1,000 and 100,000"
    )
    options.add_argument("--part", choices=PARTS, action="append", help="only this part")
    options.add_argument("--slow-clicks", type=int, default=20, help="how many clicks, one a second")
    options.add_argument(
        "--backlog", type=int, default=200_000, help="clicks that wait when redirects are timed"
    )
    options.add_argument(
        "--rounds", type=int, default=3, help="how often with and without a backlog, 2 at least"
    )
    options.add_argument("--clicks", type=int, default=1_000, help="clicks of a link when bytes are measured")
    arguments = options.parse_args()
    require_wrk()
    core = leave_a_core()
    parts = arguments.part or PARTS
    for server in arguments.server or (HYPERCORN, GRANIAN):
        if server == GRANIAN and not importlib.util.find_spec("granian"):
            print("granian is not installed (pip install 'waylink[granian]'), so it is left out.")
            continue
        for links in (arguments.links or (_FEW_LINKS, _MANY_LINKS)) if "load" in parts else ():
            asyncio.run(_measure_load(server, core, links, arguments.seconds, arguments.slow_clicks))
        if "backlog" in parts:
            asyncio.run(_measure_backlog(server, core, arguments.backlog, max(2, arguments.rounds)))
    if "disk" in parts:
        asyncio.run(print_click_bytes(_FEW_LINKS, arguments.clicks))
    if "time" in parts:
        asyncio.run(print_click_time())


@asynccontextmanager
async def _benches(server: str, core: int | None, links: int) -> AsyncIterator[Bench]:
    with tempfile.TemporaryDirectory(prefix="waylink-bench-") as name:
        folder = Path(name)
        async with EmbeddedMongoDB(folder / "mongodb") as mongodb:
            settings = replace(Settings(), mongodb_uri=mongodb.uri, data_dir=folder)
            async with open_database(settings) as database:
                org_id = OrgId(await prepare_domain(database))
                await store_links(database, org_id, 0, links)
                watched = new_link(org_id, _WATCHED)
                await insert_links(database, [watched])
                with service(server, folder, mongodb.uri) as running:
                    if core is not None:
                        running.move_to(core)
                    analytics, process = Analytics(database, settings), AnalyticsProcess(folder)
                    bench = Bench(
                        running, database, analytics, process, org_id, watched.id, settings.clicks_dir
                    )
                    await _fill_cache(bench, links)
                    yield bench
                    await analytics.close()


async def _fill_cache(bench: Bench, links: int) -> None:
    asked, end = 0, time.monotonic() + _LONGEST_WARMING
    while asked < links and time.monotonic() < end:
        run = await visit_links(bench.server.url, _WARMING_SECONDS, links, asked)
        asked += run.answers
        print(f"\r  {min(asked, links):,} of {links:,} links in memory", end="", flush=True)
    print("\r  waiting for the analytics            ", end="", flush=True)
    await bench.until_counted()


async def _measure_load(server: str, core: int | None, links: int, seconds: int, slow_clicks: int) -> None:
    print(f"{server}, {links:,} links:")
    async with _benches(server, core, links) as bench:
        before = bench.server.megabytes
        print(f"\r  {seconds} s of load                       ", end="", flush=True)
        watch = Watch()
        async with _beside(watch.watch_memory(bench.server)):
            async with _beside(watch.watch_delay(bench)):
                load = asyncio.create_task(visit_links(bench.server.url, seconds, links))
                await asyncio.sleep(seconds * _SETTLING)
                start = await Seen.of(bench)
                await load
            end = await Seen.of(bench)
            waiting = await bench.waiting_bytes()
            later = await bench.until_counted()
        _print_rates(start, end)
        print(
            f"  {waiting:,} bytes wait then, and {later:.1f} s later all {await bench.answered():,} are "
            "in the analytics, each once"
        )
        _print_delays("beside this load", watch.seconds)
        _print_delays("one click a second", await _click_slowly(bench, slow_clicks))
        print(
            f"  memory {before:.0f} MB before, {watch.megabytes:.0f} MB at the most, "
            f"{bench.server.megabytes:.0f} MB after; of the process that answers questions "
            f"{bench.process.most_megabytes:.0f} MB at the most",
            flush=True,
        )


def _print_rates(start: Seen, end: Seen) -> None:
    took = end.at - start.at
    answered, shipped = (end.answered - start.answered) / took, (end.shipped - start.shipped) / took
    ratio = shipped / answered
    print(f"\r  answered {answered:,.0f}/s, shipped {shipped:,.0f}/s meanwhile: ratio {ratio:.2f}")
    print(f"  at the end {(end.answered - end.shipped) / answered:.1f} s of this load are not shipped")


@asynccontextmanager
async def _beside(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _click_slowly(bench: Bench, clicks: int) -> list[float]:
    seconds = []
    for number in range(clicks):
        print(f"\r  click {number + 1} of {clicks}, one a second", end="", flush=True)
        seconds.append(took := await bench.click_watched())
        await asyncio.sleep(max(0.0, 1 - took))
    return seconds


def _print_delays(when: str, seconds: Sequence[float]) -> None:
    if seconds:
        print(
            f"\r  in the analytics {statistics.median(seconds):.2f} s after the answer, "
            f"{max(seconds):.2f} s at the most ({when}, {len(seconds)} clicks; target: 0.3 s)"
        )


async def _measure_backlog(server: str, core: int | None, backlog: int, rounds: int) -> None:
    print(f"{server}, a backlog of {backlog:,} clicks:")
    async with _benches(server, core, _FEW_LINKS) as bench:
        links = bench.database[stored_links.NAME].find({"org_id": bench.org_id}, {"_id": 1})
        link_ids = [LinkId(link["_id"]) async for link in links]
        pairs = []
        for number in range(rounds):
            print(f"\r  round {number + 1} of {rounds}", end="", flush=True)
            alone = await visit_links(bench.server.url, _TIMED_SECONDS, _FEW_LINKS)
            await bench.until_counted(number * backlog)
            lines = made_lines(bench.org_id, link_ids, backlog, datetime.now(UTC), timedelta(seconds=1))
            leave_behind(bench.folder, lines)
            while not await bench.waiting_bytes():  # noqa: ASYNC110 - another process takes it over
                await asyncio.sleep(0.1)
            pairs.append((alone, await visit_links(bench.server.url, _TIMED_SECONDS, _FEW_LINKS)))
            if not await bench.waiting_bytes():
                print("\r  the backlog was over early: give a larger --backlog")
            await bench.until_counted((number + 1) * backlog)
        for name, runs in zip(("without", "with it"), zip(*pairs, strict=True), strict=True):
            p50, p99 = (
                statistics.median(getattr(run, percentile) for run in runs) for percentile in ("p50", "p99")
            )
            rate = statistics.median(run.rate for run in runs)
            print(f"\r  {name} {rate:8,.0f}/s  p50 {p50:6.1f} ms  p99 {p99:6.1f} ms")
        print(f"  ratio of p50   {spread([beside.p50 / alone.p50 for alone, beside in pairs])}")
        print(f"  ratio of p99   {spread([beside.p99 / alone.p99 for alone, beside in pairs])}", flush=True)


if __name__ == "__main__":
    main()
