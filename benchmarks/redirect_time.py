"""What a redirect takes of the thread that answers, without a server: the service is called in this process.

`python -m benchmarks.redirect_time` starts a MongoDB, asks for 1,000 links as mixed visits do
(data/mixed_visits), hardly two of which are alike, and for three links with the same request, in turns,
over 32 tasks at once. It prints the least processor time of many short rounds: other programs can only add
to it. The click is written before each answer, as always; the threads that write, ship and count are left
out.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Iterator, MutableMapping
from dataclasses import replace
from itertools import cycle, repeat
from typing import Any

import uvloop

from backend.app import Service
from backend.domain.ids import OrgId
from backend.domain.links.links import Link
from backend.storage.accounts import organizations
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from benchmarks.data.mixed_visits import mixed_visits
from benchmarks.data.stored_links import new_link, prepare_domain
from benchmarks.link_rules import RULES
from benchmarks.measuring.compared_links import links_in_mongodb
from benchmarks.measuring.wrk import HOST
from tests.facts.stored_links import insert_links

_MIXED = "mixed visits"
_KINDS = (_MIXED, "a link", "one with ten rules", "one without click id")
_LINKS = 1_000
_VISITS = 20_000  # that differ; no cache of the service holds as many
_CONCURRENT_VISITS = 32
_EACH = 30  # redirects of a task in a round
_HEADERS = [
    (b"host", HOST.encode()),
    (b"user-agent", b"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/126.0.0.0 Safari/537.36"),
    (b"accept", b"text/html,application/xhtml+xml"),
    (b"accept-language", b"de-DE,de;q=0.9,en;q=0.8"),
    (b"accept-encoding", b"gzip, br"),
    (b"referer", b"https://news.example/kites"),
]  # fmt: skip


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--rounds", type=int, default=100, help="how many measurements of each")
    uvloop.run(_measure(options.parse_args().rounds))


async def _measure(rounds: int) -> None:
    async with links_in_mongodb(_store_links) as (settings, _, links):
        service = Service(settings, utc_now)
        await service.startup()
        visits = [_mixed(), *(_same(link) for link in links[-3:])]
        try:
            for visit in visits:
                await _ask(service, visit)  # fills caches
            turns = [[await _ask(service, visit) for visit in visits] for _ in range(rounds)]
        finally:
            await service.shutdown()
    for kind, seconds in zip(_KINDS, map(min, zip(*turns, strict=True)), strict=True):
        print(f"{kind:20} {seconds * 1e6:5.1f} µs of the answering thread's processor time a redirect")


def _mixed() -> Iterator[dict[str, Any]]:
    """Requests that differ, again and again."""
    scopes = []
    for path, headers in mixed_visits(_LINKS, _VISITS):
        encoded = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        scopes.append(_scope(path, [(b"host", HOST.encode()), *encoded]))
    return cycle(scopes)


def _same(link: Link) -> Iterator[dict[str, Any]]:
    return repeat(_scope(f"/{link.path}", _HEADERS))


def _scope(address: str, headers: list[tuple[bytes, bytes]]) -> dict[str, Any]:
    path, _, query = address.partition("?")
    return {
        "type": "http",
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "client": ("203.0.113.7", 4711),
        "headers": headers,
    }


async def _ask(service: Service, visits: Iterator[dict[str, Any]]) -> float:
    """The processor time in seconds that this thread takes for a redirect."""
    statuses: set[int] = set()

    async def send(message: MutableMapping[str, Any]) -> None:
        statuses.add(message.get("status", 302))

    async def visit() -> None:
        for _ in range(_EACH):
            await service(next(visits), None, send)

    began = time.thread_time()
    await asyncio.gather(*(visit() for _ in range(_CONCURRENT_VISITS)))
    took = time.thread_time() - began
    if statuses != {302}:
        raise RuntimeError(f"{statuses} are no redirects")
    return took / (_CONCURRENT_VISITS * _EACH)


async def _store_links(database: Database) -> list[Link]:
    org_id = OrgId(await prepare_domain(database))
    plain = (await organizations.create_organization(database, "Plain", utc_now())).id
    await organizations.set_click_ids(database, plain, False)
    links = [new_link(org_id, number) for number in range(_LINKS)]
    links += [
        new_link(org_id, _LINKS),
        replace(new_link(org_id, _LINKS + 1), rules=RULES),
        new_link(plain, _LINKS + 2),
    ]
    await insert_links(database, links)
    return links


if __name__ == "__main__":
    main()
