"""What `max_clicks` costs a redirect: links with it and without, on the same service, in turns.

`python -m benchmarks.limited_links` starts a MongoDB and the service with one worker process. A click of a
link with `max_clicks` is a write that a majority of MongoDB's members has; visitors who come together share
one. So it prints a visitor alone, whose time is that of one write, and many at once.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import replace

from backend.domain.ids import OrgId
from backend.domain.links.limits import LinkLimits
from backend.domain.links.links import Link
from backend.storage.driver.mongo import Database
from benchmarks.data.stored_links import new_link, prepare_domain
from benchmarks.measuring.compared_links import compare
from benchmarks.measuring.servers import Server
from benchmarks.measuring.spread import spread
from benchmarks.measuring.wrk import Run, ask
from tests.facts.stored_links import insert_links

# More than any run takes.
_PLENTY = LinkLimits(max_clicks=10**9)
_KINDS = ("no limits", "max_clicks")


def main() -> None:
    """Measure and print."""
    compare(__doc__.partition("\n")[0], _store_links, _measure, rounds=5)


async def _measure(_: Server, urls: Sequence[str], seconds: int, rounds: int) -> None:
    for connections in (1, 64):
        for url in urls:
            await ask(url, 1, connections)  # fills caches
        runs = [[await ask(url, seconds, connections) for url in urls] for _ in range(rounds)]
        _report(connections, runs)


def _report(connections: int, pairs: Sequence[Sequence[Run]]) -> None:
    print(f"{connections} visitors at once:" if connections > 1 else "one visitor after the other:")
    for place, name in enumerate(_KINDS):
        rate = statistics.median(pair[place].rate for pair in pairs)
        p99 = statistics.median(pair[place].p99 for pair in pairs)
        print(f"  {name:10} {rate:8,.0f}/s  {1000 * connections / rate:6.2f} ms each  p99 {p99:6.1f} ms")
    print(f"  ratio of rates {spread([limited.rate / plain.rate for plain, limited in pairs])}")


async def _store_links(database: Database) -> list[Link]:
    org_id = OrgId(await prepare_domain(database))
    links = [new_link(org_id, number) for number in range(len(_KINDS))]
    links[1] = replace(links[1], limits=_PLENTY)
    await insert_links(database, links)
    return links


if __name__ == "__main__":
    main()
