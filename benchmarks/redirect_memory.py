"""Memory of the service after a million redirects, and with 100,000 links in its cache.

`python -m benchmarks.redirect_memory` stores the links. wrk requests each of them at least once, and then one
of them a million times. The resident memory of all the service's processes is printed, with its supervisor.
Each of the two steps ends after some minutes at the latest, and then says how far it came.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from backend.domain.ids import OrgId
from backend.settings import Settings
from backend.storage.database import open_database
from backend.storage.embedded.mongodb import EmbeddedMongoDB
from benchmarks.data.stored_links import path_of, prepare_domain, store_links
from benchmarks.measuring.servers import HYPERCORN, Server, service
from benchmarks.measuring.wrk import ask, require_wrk

_SECONDS_A_STEP = 5
# Asks for one path after the other, over all connections together.
_EACH_IN_TURN = """
local number = {start}
request = function()
  number = (number + 1) % {count}
  return wrk.format(nil, "/kites/" .. number)
end
"""


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--links", type=int, default=100_000, help="how many links are cached")
    options.add_argument("--redirects", type=int, default=1_000_000, help="how many redirects follow")
    options.add_argument(
        "--minutes", type=float, default=15, help="the longest that each of the two may take"
    )
    arguments = options.parse_args()
    require_wrk()
    asyncio.run(_measure(arguments.links, arguments.redirects, arguments.minutes * 60))


async def _measure(links: int, redirects: int, seconds: float) -> None:
    with tempfile.TemporaryDirectory(prefix="waylink-bench-") as name:
        folder = Path(name)
        async with EmbeddedMongoDB(folder / "mongodb") as mongodb:
            settings = replace(Settings(), mongodb_uri=mongodb.uri, data_dir=folder)
            async with open_database(settings) as database:
                await store_links(database, OrgId(await prepare_domain(database)), 0, links)
            with service(HYPERCORN, folder, mongodb.uri) as server:
                await _report_cache(server, folder, links, seconds)
                await _report_redirects(server, redirects, seconds)


async def _report_cache(server: Server, folder: Path, links: int, seconds: float) -> None:
    # Memory for many simultaneous database reads is not memory for links.
    await ask(f"{server.url}/no-such-link", _SECONDS_A_STEP, all_redirect=False)
    before = server.megabytes
    script = folder / "each.lua"
    asked, end = 0, time.monotonic() + seconds
    while asked < 1.1 * links and time.monotonic() < end:
        # Some answers are still on their way when wrk stops, so that the next step begins a little before.
        script.write_text(_EACH_IN_TURN.format(count=links, start=max(0, asked - 100)))
        # On a busy machine a read may time out; then one link of many is missing.
        asked += (await ask(server.url, _SECONDS_A_STEP, script=script, all_redirect=False)).answers
        print(f"\r  {asked:,} answers for {links:,} links", end="", flush=True)
    grown = server.megabytes - before
    print(
        f"\r{min(asked, links):,} links in the cache: {grown:.0f} MB (target for 100,000: below 100), "
        f"{before:.0f} MB before"
    )


async def _report_redirects(server: Server, redirects: int, seconds: float) -> None:
    await ask(f"{server.url}/{path_of(0)}", _SECONDS_A_STEP)
    before = highest = server.megabytes
    answers, end = 0, time.monotonic() + seconds
    while answers < redirects and time.monotonic() < end:
        answers += (await ask(f"{server.url}/{path_of(0)}", _SECONDS_A_STEP)).answers
        highest = max(highest, server.megabytes)
        print(f"\r  {answers:,} redirects, {server.megabytes:.0f} MB", end="", flush=True)
    print(
        f"\r{answers:,} redirects: {before:.0f} MB before, {highest:.0f} MB at the most, "
        f"{server.megabytes:.0f} MB after"
    )


if __name__ == "__main__":
    main()
