"""What the id of its click costs a redirect: links of an organization with ids and of one without, in turns.

`python -m benchmarks.click_ids` starts a MongoDB and the service with one worker process, and prints rates,
the processor time of an answer, the ratios of pairs measured right after one another, and what making an id
takes by itself.
"""

from __future__ import annotations

import statistics
import time
import uuid
from collections.abc import Sequence
from datetime import timedelta

from backend.domain.clicks.ids import click_id
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.links import Link
from backend.storage.accounts import organizations
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from benchmarks.data.made_clicks import made_lines
from benchmarks.data.stored_links import new_link, prepare_domain
from benchmarks.measuring.compared_links import compare
from benchmarks.measuring.servers import Server
from benchmarks.measuring.spread import spread
from benchmarks.measuring.wrk import Run, ask
from tests.facts.stored_links import insert_links

_IDS = 50_000
_KINDS = ("without click ids", "with click ids")
# One run of wrk, and the processor time in seconds of each answer.
_Measured = tuple[Run, float]


def main() -> None:
    """Measure and print."""
    compare(__doc__.partition("\n")[0], _store_links, _measure, rounds=10)


async def _measure(server: Server, urls: Sequence[str], seconds: int, rounds: int) -> None:
    for url in urls:
        await ask(url, 1)  # fills caches
    _report([[await _ask(server, url, seconds) for url in urls] for _ in range(rounds)])


async def _ask(server: Server, url: str, seconds: int) -> _Measured:
    used = server.cpu_seconds
    run = await ask(url, seconds)
    return run, (server.cpu_seconds - used) / run.answers


def _alone() -> float:
    """Processor time in seconds of making an id, repeated in a loop."""
    key, org_id, link_id = bytes(32), OrgId(str(uuid.uuid4())), LinkId(str(uuid.uuid4()))
    (line,) = made_lines(org_id, [link_id], 1, utc_now(), timedelta(0))
    begin = time.process_time()
    for _ in range(_IDS):
        click_id(key, org_id, link_id, line)
    return (time.process_time() - begin) / _IDS


def _report(pairs: Sequence[Sequence[_Measured]]) -> None:
    for place, name in enumerate(_KINDS):
        rate = statistics.median(pair[place][0].rate for pair in pairs)
        processor = statistics.median(pair[place][1] for pair in pairs) * 1e6
        print(f"  {name:18} {rate:8,.0f}/s  processor time {processor:.0f} µs")
    print(f"  making an id alone: processor time {_alone() * 1e6:.1f} µs")
    print(f"  ratio of rates {spread([with_ids[0].rate / plain[0].rate for plain, with_ids in pairs])}")
    print(f"  ratio of processor time {spread([with_ids[1] / plain[1] for plain, with_ids in pairs])}")


async def _store_links(database: Database) -> list[Link]:
    with_ids = OrgId(await prepare_domain(database))
    plain = (await organizations.create_organization(database, "Plain", utc_now())).id
    await organizations.set_click_ids(database, plain, False)
    links = [new_link(plain, 0), new_link(with_ids, 1)]
    await insert_links(database, links)
    return links


if __name__ == "__main__":
    main()
