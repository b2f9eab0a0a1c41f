"""What rules cost a redirect: links without rules and with ten, on the same service, in turns.

`python -m benchmarks.link_rules` starts a MongoDB and the service with one worker process. All ten rules are
asked, each by two conditions; the last one fits. The ratio is that of the processor time a redirect takes,
with its click: rates say little on a machine that others use.
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
from backend.domain.link_input import LINK_RULES
from backend.domain.links import Link
from backend.settings import Settings
from backend.storage.database import open_database
from backend.storage.embedded_mongodb import EmbeddedMongoDB
from backend.storage.links import insert_links
from benchmarks.servers import Server, service
from benchmarks.spread import spread
from benchmarks.stored_links import new_link, prepare_domain
from benchmarks.wrk import ask, require_wrk

_KINDS = ("no rules", "ten rules")
_THERE = {"destination_url": "https://shop.example/there"}
_MISSED: list[dict[str, Any]] = [
    {"platform": ["ios", "android"], "country": ["DE"]},
    {"platform": ["desktop"], "country": ["DE", "AT", "CH"]},
    {"language": ["de"], "country": ["US"]},
    {"system": ["Windows"], "browser": ["Firefox"]},
    {"weekdays": [1, 2, 3, 4, 5, 6, 7], "until": "2020-01-01T00:00:00Z"},
    {"from": "2100-01-01T00:00:00Z", "platform": ["desktop"]},
    {"query": {"ref": "mail"}, "platform": ["desktop"]},
    {"device": "returning", "language": ["fr"]},
    {"language": ["pt-BR", "es"], "platform": ["desktop"]},
]
RULES = LINK_RULES.parse(
    "rules",
    [
        *({"if": each, "then": _THERE} for each in _MISSED),
        {"if": {"platform": ["desktop"], "from": "2020-01-01"}, "then": _THERE},
    ],
)


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--seconds", type=int, default=2, help="how long each measurement takes")
    options.add_argument("--rounds", type=int, default=10, help="how many measurements of each, 2 at least")
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
                for url in urls:
                    await ask(url, 1)  # fills caches
                pairs = [[await _time_of(ours, url, seconds) for url in urls] for _ in range(rounds)]
    for each, kind in enumerate(_KINDS):
        micros = 1e6 * statistics.median(pair[each] for pair in pairs)
        print(f"{kind:10} {micros:6.0f} µs of processor time a redirect with its click")
    print(f"ratio {spread([ruled / plain for plain, ruled in pairs])} (target: at most 1.10)")


async def _time_of(server: Server, url: str, seconds: int) -> float:
    """The processor time, in seconds, that a redirect takes."""
    before = server.cpu_seconds
    run = await ask(url, seconds)
    return (server.cpu_seconds - before) / run.answers


async def _store_links(settings: Settings) -> list[Link]:
    async with open_database(settings) as database:
        org_id = OrgId(await prepare_domain(database))
        links = [new_link(org_id, number) for number in range(len(_KINDS))]
        links[1] = replace(links[1], rules=RULES)
        await insert_links(database, links)
    return links


if __name__ == "__main__":
    main()
