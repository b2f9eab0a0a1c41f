"""What a redirect costs with 1,000 links stored and with 1,000,000.

`python -m benchmarks.link_numbers` measures cached redirects with few links, stores the others, and
measures again; it prints the ratio of the medians. For links that are not cached it asks MongoDB how it reads
one: by one key of an index, and one document.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from backend.settings import Settings
from backend.storage import links
from backend.storage.database import open_database
from backend.storage.embedded_mongodb import EmbeddedMongoDB
from backend.storage.mongo import Database
from benchmarks.servers import HYPERCORN, empty_app, service
from benchmarks.stored_links import path_of, prepare_domain, store_links
from benchmarks.wrk import HOST, ask, require_wrk

_SECONDS = 4


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--few", type=int, default=1_000, help="links stored at first")
    options.add_argument("--many", type=int, default=1_000_000, help="links stored in the end")
    options.add_argument("--rounds", type=int, default=5, help="how many measurements of each")
    given = options.parse_args()
    require_wrk()
    asyncio.run(_measure(given.few, given.many, given.rounds))


async def _measure(few: int, many: int, rounds: int) -> None:
    with tempfile.TemporaryDirectory(prefix="waylink-bench-") as name:
        folder = Path(name)
        async with EmbeddedMongoDB(folder / "mongodb") as mongodb:
            settings = replace(Settings(), mongodb_uri=mongodb.uri, data_dir=folder)
            async with open_database(settings) as database:
                org_id = await prepare_domain(database)
                await store_links(database, org_id, 0, few)
                cost_of_few = await _cost(folder, mongodb.uri, rounds)
                print(f"\r{few:>9,} links: a cached redirect costs {cost_of_few:.2f} empty ones")
                await store_links(database, org_id, few, many)
                cost_of_many = await _cost(folder, mongodb.uri, rounds)
                print(f"\r{many:>9,} links: a cached redirect costs {cost_of_many:.2f} empty ones")
                print(f"ratio {cost_of_many / cost_of_few:.2f} (target: below 1.1)")
                await _report_read(database, many - 1)


async def _cost(folder: Path, mongodb_uri: str, rounds: int) -> float:
    """What a redirect costs, in those of the empty app: measured by turns, since machines are noisy."""
    with empty_app(HYPERCORN) as empty, service(HYPERCORN, folder, mongodb_uri) as ours:
        await ask(f"{ours.url}/{path_of(0)}", 1)
        ratios = []
        for number in range(rounds):
            print(f"\r  round {number + 1} of {rounds}          ", end="", flush=True)
            rates = [(await ask(f"{each.url}/{path_of(0)}", _SECONDS)).rate for each in (empty, ours)]
            ratios.append(rates[0] / rates[1])
    return statistics.median(ratios)


async def _report_read(database: Database, number: int) -> None:
    query = {"find": links.NAME, "filter": {"domain": HOST, "path": path_of(number)}, "limit": 1}
    found: Any = await database.command("explain", query, verbosity="executionStats")
    read = found["executionStats"]
    print(
        f"not cached: {read['totalKeysExamined']} key of an index and "
        f"{read['totalDocsExamined']} document read, in {read['executionTimeMillis']} ms"
    )


if __name__ == "__main__":
    main()
