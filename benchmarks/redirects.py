"""Redirects per second with clicks recorded, compared with an empty 302 from an ASGI app on the same server.

`python -m benchmarks.redirects` measures this on Hypercorn, and on Granian if it is installed, each with
one worker process. It starts a MongoDB, the empty app, and the service with 1,000 links. wrk sends requests
to both many times, in short turns, so that noise affects both of a pair: first mixed visits, hardly two of
which are alike (data/mixed_visits), then the same request for one link again and again. It prints both
medians and the median of the pairs' ratios, which is what counts: of rates, and of processor time, in which
the clicks are shipped. On a machine with two or more cores, the servers have a core of their own, and wrk
and MongoDB the rest. At the end it asks for the links' analytics until every click is in them that wrk got
an answer for (and maybe a few more).
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from backend.domain.ids import OrgId
from backend.domain.links.links import Link
from backend.settings import Settings
from backend.storage.analytics.clicks.click_windows import ClickWindows
from backend.storage.analytics.client import Analytics
from backend.storage.database import open_database
from backend.storage.embedded.mongodb import EmbeddedMongoDB
from backend.system.clock import utc_now
from benchmarks.data.mixed_visits import mixed_visits
from benchmarks.data.stored_links import new_link, prepare_domain
from benchmarks.measuring.cores import leave_a_core
from benchmarks.measuring.servers import GRANIAN, HYPERCORN, Server, empty_app, installed_servers, service
from benchmarks.measuring.spread import spread
from benchmarks.measuring.wrk import Run, ask, require_wrk, visit
from tests.facts.stored_links import insert_links

_LINKS = 1_000
_VISITS = 20_000  # that differ; no cache of the service holds as many
# Ratios of rates, of mixed visits and of the same one.
_TARGETS = {HYPERCORN: (1.3, 1.48), GRANIAN: (0.35, 0.5)}

_Ask = Callable[[Server, int], Awaitable[Run]]


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--seconds", type=int, default=2, help="how long each measurement takes")
    options.add_argument("--rounds", type=int, default=15, help="how many measurements of each, 2 at least")
    options.add_argument("--server", choices=installed_servers(), action="append", help="only on this one")
    arguments = options.parse_args()
    require_wrk()
    core = leave_a_core()
    for server in arguments.server or installed_servers():
        asyncio.run(_measure(server, arguments.seconds, max(2, arguments.rounds), core))


async def _measure(server: str, seconds: int, rounds: int, core: int | None) -> None:
    with tempfile.TemporaryDirectory(prefix="waylink-bench-") as name:
        folder = Path(name)
        visits = _write_visits(folder / "visits.tsv")
        async with EmbeddedMongoDB(folder / "mongodb") as mongodb:
            settings = replace(Settings(), mongodb_uri=mongodb.uri, data_dir=folder)
            links = await _store_links(settings)
            with empty_app(server) as empty, service(server, folder, mongodb.uri) as ours:
                if core is not None:
                    empty.move_to(core)
                    ours.move_to(core)
                asked: list[tuple[str, _Ask]] = [
                    ("mixed visits", lambda server, seconds: visit(server.url, seconds, visits)),
                    ("one link", lambda server, seconds: ask(f"{server.url}/{links[0].path}", seconds)),
                ]
                answers = 0
                for (kind, visiting), target in zip(asked, _TARGETS[server], strict=True):
                    print(f"{server}, {kind}:")
                    answers += await _compare((empty, ours), visiting, seconds, rounds, target)
                await _report_counted(settings, links, answers)


async def _compare(
    servers: tuple[Server, Server], visiting: _Ask, seconds: int, rounds: int, target: float
) -> int:
    """Measure both in turns, and print. Returns how many answers the second one gave."""
    first = [await _ask(server, visiting, 1) for server in servers]  # fills caches
    runs = []
    for number in range(rounds):
        print(f"\r  round {number + 1} of {rounds}", end="", flush=True)
        runs.append([await _ask(server, visiting, seconds) for server in servers])
    _report(runs, target)
    return sum(pair[1].run.answers for pair in [first, *runs])


@dataclass(frozen=True, slots=True)
class _Measured:
    """One run of wrk, and the processor time in seconds that the server used for each answer."""

    run: Run
    processor: float
    loop: float  # of it, the threads of event loops


async def _ask(server: Server, visiting: _Ask, seconds: int) -> _Measured:
    before = _used_by(server)
    run = await visiting(server, seconds)
    used = ((now - then) / run.answers for now, then in zip(_used_by(server), before, strict=True))
    return _Measured(run, *used)


def _used_by(server: Server) -> tuple[float, float]:
    return server.cpu_seconds, server.loop_seconds


def _report(pairs: Sequence[Sequence[_Measured]], target: float) -> None:
    for place, name in enumerate(("\r  empty 302          ", "  redirect and click ")):
        rate = statistics.median(pair[place].run.rate for pair in pairs)
        p99 = statistics.median(pair[place].run.p99 for pair in pairs)
        whole, loop = (
            statistics.median(part) * 1e6
            for part in zip(*((m.processor, m.loop) for m in (p[place] for p in pairs)), strict=True)
        )
        print(
            f"{name} {rate:8,.0f}/s  p99 {p99:6.1f} ms  processor time {whole:.0f} µs (event loop {loop:.0f})"
        )
    rates = [ours.run.rate / empty.run.rate for empty, ours in pairs]
    slowest = [ours.run.p99 / empty.run.p99 for empty, ours in pairs]
    used = [empty.processor / ours.processor for empty, ours in pairs]
    print(f"  ratio of rates {spread(rates)} (target: {target} at least)")
    print(f"  the same by processor time, which other programs disturb less: {spread(used)}")
    print(f"  ratio of p99   {spread(slowest)} (target: below 3)")


async def _report_counted(settings: Settings, links: Sequence[Link], answers: int) -> None:
    began = time.monotonic()
    async with open_database(settings) as database:
        analytics = Analytics(database, settings)
        counted = 0
        while counted < answers and time.monotonic() < began + 300:
            windows = ClickWindows([link.id for link in links], utc_now())
            counted = sum(counts.total for counts in (await analytics.ask(links[0].org_id, windows)).values())
        waited = time.monotonic() - began
        await analytics.close()
    print(
        f"  answers {answers:,}, in the analytics {counted:,}, {waited:.1f} s after the last one", flush=True
    )


async def _store_links(settings: Settings) -> list[Link]:
    async with open_database(settings) as database:
        org_id = OrgId(await prepare_domain(database))
        links = [new_link(org_id, number) for number in range(_LINKS)]
        await insert_links(database, links)
    return links


def _write_visits(file: Path) -> Path:
    lines = (
        "\t".join([path, *(f"{name}: {value}" for name, value in headers.items())])
        for path, headers in mixed_visits(_LINKS, _VISITS)
    )
    file.write_text("\n".join(lines), encoding="ascii")
    return file


if __name__ == "__main__":
    main()
