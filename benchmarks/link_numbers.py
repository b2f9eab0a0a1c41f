"""The time of a redirect with 1,000 stored links and with 1,000,000.

`python -m benchmarks.link_numbers` stores them in two databases of one MongoDB, runs the service on each,
measures cached redirects of both in turns, and prints the median of the ratios. For links that are not
cached, it asks MongoDB how it reads one: by one key of an index, and one document.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from backend.domain.ids import OrgId
from backend.settings import Settings
from backend.storage.database import open_database
from backend.storage.driver.mongo import Database
from backend.storage.embedded.mongodb import EmbeddedMongoDB
from backend.storage.links import links
from benchmarks.data.stored_links import path_of, prepare_domain, store_links
from benchmarks.measuring.cores import leave_a_core
from benchmarks.measuring.servers import HYPERCORN, Server, service
from benchmarks.measuring.spread import spread
from benchmarks.measuring.wrk import HOST, ask, require_wrk

_SECONDS = 1


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--few", type=int, default=1_000, help="links stored at first")
    options.add_argument("--many", type=int, default=1_000_000, help="links stored in the end")
    options.add_argument("--rounds", type=int, default=20, help="how many measurements of each, 2 at least")
    arguments = options.parse_args()
    require_wrk()
    asyncio.run(_measure(arguments.few, arguments.many, max(2, arguments.rounds), leave_a_core()))


async def _measure(few: int, many: int, rounds: int, core: int | None) -> None:
    with tempfile.TemporaryDirectory(prefix="waylink-bench-") as name:
        folder = Path(name)
        async with EmbeddedMongoDB(folder / "mongodb") as mongodb:
            for count in (few, many):
                settings = replace(Settings(), mongodb_uri=mongodb.uri, mongodb_database=f"links_{count}")
                async with open_database(settings) as database:
                    await store_links(database, OrgId(await prepare_domain(database)), 0, count)
                    await _report_read(database, count)
            with (
                service(HYPERCORN, folder / "few", mongodb.uri, f"links_{few}") as with_few,
                service(HYPERCORN, folder / "many", mongodb.uri, f"links_{many}") as with_many,
            ):
                if core is not None:
                    with_few.move_to(core)
                    with_many.move_to(core)
                await _report_cached((with_few, with_many), (few, many), rounds)


async def _report_cached(services: tuple[Server, Server], counts: tuple[int, int], rounds: int) -> None:
    """Measure both services in turns and print the ratios. Each ratio compares two measurements in a row,
    since the speed of a machine changes.
    """
    urls = [f"{server.url}/{path_of(0)}" for server in services]
    for url in urls:
        await ask(url, 1)
    rates: list[list[float]] = []
    for number in range(rounds):
        print(f"\r  round {number + 1} of {rounds}          ", end="", flush=True)
        in_order = urls if number % 2 else urls[::-1]  # so that neither is always the first
        measured = {url: (await ask(url, _SECONDS)).rate for url in in_order}
        rates.append([measured[url] for url in urls])
    few, many = (statistics.median(pair[place] for pair in rates) for place in (0, 1))
    print(f"\r{counts[0]:,} links: {few:,.0f} cached redirects a second, {counts[1]:,} links: {many:,.0f}")
    ratios = [pair[0] / pair[1] for pair in rates]
    print(f"ratio of costs {spread(ratios)} (target: below 1.1)")


async def _report_read(database: Database, count: int) -> None:
    query = {"find": links.NAME, "filter": {"domain": HOST, "path": path_of(count - 1)}, "limit": 1}
    plan: Any = await database.command("explain", query, verbosity="executionStats")
    read = plan["executionStats"]
    print(
        f"\r{count:,} links, not cached: {read['totalKeysExamined']} key of an index and "
        f"{read['totalDocsExamined']} document read, in {read['executionTimeMillis']} ms"
    )


if __name__ == "__main__":
    main()
