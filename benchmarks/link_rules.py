"""What rules cost a redirect: links without rules and with ten, on the same service, in turns.

`python -m benchmarks.link_rules` starts a MongoDB and the service with one worker process. All ten rules are
asked, each by two conditions; the last one fits. The ratio is that of the processor time a redirect takes,
with its click: rates say little on a machine that others use.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from backend.domain.ids import OrgId
from backend.domain.links.input import LINK_RULES
from backend.domain.links.links import Link
from backend.storage.driver.mongo import Database
from benchmarks.data.stored_links import new_link, prepare_domain
from benchmarks.measuring.compared_links import compare
from benchmarks.measuring.servers import Server
from benchmarks.measuring.spread import spread
from benchmarks.measuring.wrk import ask
from tests.facts.stored_links import insert_links

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
        *({"if": conditions, "then": _THERE} for conditions in _MISSED),
        {"if": {"platform": ["desktop"], "from": "2020-01-01"}, "then": _THERE},
    ],
)


def main() -> None:
    """Measure and print."""
    compare(__doc__.partition("\n")[0], _store_links, _measure, rounds=10)


async def _measure(server: Server, urls: Sequence[str], seconds: int, rounds: int) -> None:
    for url in urls:
        await ask(url, 1)  # fills caches
    pairs = [[await _time_of(server, url, seconds) for url in urls] for _ in range(rounds)]
    for place, kind in enumerate(_KINDS):
        micros = 1e6 * statistics.median(pair[place] for pair in pairs)
        print(f"{kind:10} {micros:6.0f} µs of processor time a redirect with its click")
    print(f"ratio {spread([ruled / plain for plain, ruled in pairs])} (target: at most 1.10)")


async def _time_of(server: Server, url: str, seconds: int) -> float:
    """The processor time, in seconds, that a redirect takes."""
    before = server.cpu_seconds
    run = await ask(url, seconds)
    return (server.cpu_seconds - before) / run.answers


async def _store_links(database: Database) -> list[Link]:
    org_id = OrgId(await prepare_domain(database))
    links = [new_link(org_id, number) for number in range(len(_KINDS))]
    links[1] = replace(links[1], rules=RULES)
    await insert_links(database, links)
    return links


if __name__ == "__main__":
    main()
