"""What the id of its click costs a redirect: links of an organization with ids and of one without, in turns.

`python -m benchmarks.click_ids` starts a MongoDB and the service with one worker process, and prints rates,
the processor time of an answer, the ratios of pairs measured right after one another, and what making an id
takes by itself.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
import uuid
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from backend.app import utc_now
from backend.domain.click_ids import click_id
from backend.domain.ids import LinkId, OrgId
from backend.domain.links import Link
from backend.settings import Settings
from backend.storage import organizations
from backend.storage.database import open_database
from backend.storage.embedded_mongodb import EmbeddedMongoDB
from backend.storage.links import insert_links
from benchmarks.servers import Server, service
from benchmarks.spread import spread
from benchmarks.stored_links import new_link, prepare_domain
from benchmarks.wrk import Run, ask, require_wrk

_IDS = 50_000
_KINDS = ("without click ids", "with click ids")
# One run of wrk, and the processor time in seconds of each answer.
_Measured = tuple[Run, float]


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
                for link in links:
                    await ask(f"{ours.url}/{link.path}", 1)  # fills caches
                runs = [[await _ask(ours, link, seconds) for link in links] for _ in range(rounds)]
                _report(runs)


async def _ask(server: Server, link: Link, seconds: int) -> _Measured:
    used = server.cpu_seconds
    run = await ask(f"{server.url}/{link.path}", seconds)
    return run, (server.cpu_seconds - used) / run.answers


def _alone() -> float:
    """Processor time in seconds of making an id, repeated in a loop."""
    key, line, at = bytes(32), b"x" * 180, utc_now()
    org_id, link_id = OrgId(str(uuid.uuid4())), LinkId(str(uuid.uuid4()))
    begin = time.process_time()
    for _ in range(_IDS):
        click_id(key, org_id, link_id, at, line)
    return (time.process_time() - begin) / _IDS


def _report(pairs: Sequence[Sequence[_Measured]]) -> None:
    for each, name in enumerate(_KINDS):
        rate = statistics.median(pair[each][0].rate for pair in pairs)
        processor = statistics.median(pair[each][1] for pair in pairs) * 1e6
        print(f"  {name:18} {rate:8,.0f}/s  processor time {processor:.0f} µs")
    print(f"  making an id alone: processor time {_alone() * 1e6:.1f} µs")
    print(f"  ratio of rates {spread([own[0].rate / plain[0].rate for plain, own in pairs])}")
    print(f"  ratio of processor time {spread([own[1] / plain[1] for plain, own in pairs])}")


async def _store_links(settings: Settings) -> list[Link]:
    async with open_database(settings) as database:
        own = OrgId(await prepare_domain(database))
        plain = (await organizations.create_organization(database, "Plain", utc_now())).id
        await organizations.set_click_ids(database, plain, False)
        links = [new_link(plain, 0), new_link(own, 1)]
        await insert_links(database, links)
    return links


if __name__ == "__main__":
    main()
