"""What `max_clicks` costs a redirect: links with it and without, on the same service, in turns.

`python -m benchmarks.limited_links` starts a MongoDB and the service with one worker process. A click of a
link with `max_clicks` is a write that a majority of MongoDB's members has; visitors who come together share
one. So it prints a visitor alone, whose time is that of one write, and many at once.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from backend.domain.ids import OrgId
from backend.domain.link_limits import LinkLimits
from backend.domain.links import Link
from backend.settings import Settings
from backend.storage.database import open_database
from backend.storage.embedded_mongodb import EmbeddedMongoDB
from backend.storage.links import insert_links
from benchmarks.servers import service
from benchmarks.spread import spread
from benchmarks.stored_links import new_link, prepare_domain
from benchmarks.wrk import Run, ask, require_wrk

# More than any run takes.
_PLENTY = LinkLimits(max_clicks=10**9)
_KINDS = ("no limits", "max_clicks")


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--seconds", type=int, default=2, help="how long each measurement takes")
    options.add_argument("--rounds", type=int, default=5, help="how many measurements of each, 2 at least")
    given = options.parse_args()
    require_wrk()
    asyncio.run(_measure(given.seconds, max(2, given.rounds)))


async def _measure(seconds: int, rounds: int) -> None:
    with tempfile.TemporaryDirectory(prefix="waylink-bench-") as name:
        folder = Path(name)
        async with EmbeddedMongoDB(folder / "mongodb") as mongodb:
            links = await _store_links(replace(Settings(), mongodb_uri=mongodb.uri, data_dir=folder))
            with service("hypercorn", folder, mongodb.uri) as ours:
                urls = [f"{ours.url}/{link.path}" for link in links]
                for connections in (1, 64):
                    for url in urls:
                        await ask(url, 1, connections)  # fills caches
                    runs = [[await ask(url, seconds, connections) for url in urls] for _ in range(rounds)]
                    _report(connections, runs)


def _report(connections: int, pairs: Sequence[Sequence[Run]]) -> None:
    print(f"{connections} visitors at once:" if connections > 1 else "one visitor after the other:")
    for each, name in enumerate(_KINDS):
        rate = statistics.median(pair[each].rate for pair in pairs)
        p99 = statistics.median(pair[each].p99 for pair in pairs)
        print(f"  {name:10} {rate:8,.0f}/s  {1000 * connections / rate:6.2f} ms each  p99 {p99:6.1f} ms")
    print(f"  ratio of rates {spread([limited.rate / plain.rate for plain, limited in pairs])}")


async def _store_links(settings: Settings) -> list[Link]:
    async with open_database(settings) as database:
        org_id = OrgId(await prepare_domain(database))
        links = [new_link(org_id, number) for number in range(len(_KINDS))]
        links[1] = replace(links[1], limits=_PLENTY)
        await insert_links(database, links)
    return links


if __name__ == "__main__":
    main()
