"""The time until the first byte and until the whole of every page of the dashboard, beside its sign-in page.

`python -m benchmarks.dashboard_pages` starts a MongoDB, makes up the demo's history of sixty days and starts
the service; then it asks for each page in turns and prints the medians. The first byte is the first of the
page itself, and should take at most three times that of the sign-in page. `--links` and `--clicks` add links
and a year of clicks to the history, such as 40,000 links and 5,000,000 clicks.
"""

from __future__ import annotations

import argparse
import asyncio
import secrets
import statistics
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from backend.app import utc_now
from backend.dashboard.frame.navigation import ITEMS
from backend.domain.ids import OrgId, UserId
from backend.domain.sessions import new_session
from backend.domain.users import User
from backend.settings import Settings
from backend.storage import links, sessions, users
from backend.storage.database import open_database
from backend.storage.embedded_mongodb import EmbeddedMongoDB
from backend.storage.mongo import Database
from benchmarks.servers import HYPERCORN, service
from benchmarks.stored_links import prepare_domain, store_links
from benchmarks.year_of_clicks import count_year
from demo_site.history.make import make_history

_SIGN_IN = "/sign-in"
_TARGET = 3
_MORE_VIEWS = {
    "links, by clicks": "/links?sort=-clicks",
    "links, by revenue of 90 days": "/links?sort=-revenue&period=90",
    "attribution by link, a year": "/attribution?by=link&period=year",
    "overview, a year": "/?period=year",
}
_PATHS = {"Overview": "/", "Install the SDK": "/install", "Allowed origins": "/origins"}


@dataclass(slots=True)
class _Times:
    """Seconds until the first byte of a page, and until its last."""

    first: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--links", type=int, default=0, help="links beside those of the history")
    options.add_argument("--clicks", type=int, default=0, help="clicks of a year on them")
    options.add_argument("--rounds", type=int, default=15, help="how often each page is asked for")
    asked = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="waylink-bench-") as folder:
        asyncio.run(_measure(Path(folder), asked.links, asked.clicks, asked.rounds))


async def _measure(folder: Path, more_links: int, clicks: int, rounds: int) -> None:
    async with EmbeddedMongoDB(folder / "mongodb") as server:
        settings = Settings(mongodb_uri=server.uri, data_dir=folder)
        async with open_database(settings) as database:
            org_id = OrgId(await prepare_domain(database))
            if more_links:
                await store_links(database, org_id, 0, more_links)
                ids = await database[links.NAME].distinct("_id", {"org_id": org_id})
                await count_year(database, org_id, ids, clicks, is_even=False)
            await make_history(database, org_id, "https://shop.example", utc_now(), lambda *_: None)
            token = await _signed_in(database, org_id)
            link = await database[links.NAME].find_one({"org_id": org_id})
            assert link is not None  # the history has some
            pages = _pages(link["_id"])
            with service(HYPERCORN, folder / "service", server.uri, settings.mongodb_database) as running:
                times = _ask(running.url, token, pages, rounds)
    _print(times, f"{300 + more_links:,} links, {clicks:,} clicks beside the demo's history")


async def _signed_in(database: Database, org_id: OrgId) -> str:
    """The token of the session of a user of this organization."""
    user = User(UserId(secrets.token_hex(8)), "bench@example.com", "", (org_id,), utc_now())
    await users.insert_user(database, user)
    token = secrets.token_urlsafe(32)
    await sessions.insert_session(database, new_session(token, user.id, org_id, utc_now()))
    return token


def _pages(link_id: str) -> dict[str, str]:
    """The address of each page, by what it is called."""
    named = {each.label: _PATHS.get(each.label, f"/{each.endpoint}") for each in ITEMS}
    return named | {"a link": f"/links/{link_id}", "a link's sales": f"/links/{link_id}/sales"} | _MORE_VIEWS


def _ask(url: str, token: str, pages: Mapping[str, str], rounds: int) -> dict[str, _Times]:
    times = {name: _Times() for name in ("sign-in", *pages)}
    with (
        httpx.Client(base_url=url, timeout=60) as stranger,
        httpx.Client(base_url=url, timeout=60, cookies={"waylink": token}) as person,
    ):
        for at in range(-2, rounds):
            for name, path in pages.items():
                before = _Times() if at < 0 else times["sign-in"]  # the first rounds fill caches
                _take(stranger, _SIGN_IN, before)
                _take(person, path, _Times() if at < 0 else times[name])
    return times


def _take(client: httpx.Client, path: str, times: _Times) -> None:
    started = time.perf_counter()
    with client.stream("GET", path) as answer:
        pieces = answer.iter_raw()
        next(pieces)
        times.first.append(time.perf_counter() - started)
        for _ in pieces:
            pass
        times.whole.append(time.perf_counter() - started)
    assert answer.status_code == httpx.codes.OK, (path, answer.status_code)


def _print(times: Mapping[str, _Times], of: str) -> None:
    base = statistics.median(times["sign-in"].first)
    print(f"Pages of the dashboard, {of}, medians:")
    print(f"  {'page':<30} {'first byte':>12} {'the whole':>12} {'first byte to sign-in':>23}")
    for name, each in times.items():
        first, whole = statistics.median(each.first), statistics.median(each.whole)
        print(f"  {name:<30} {first * 1000:9.1f} ms {whole * 1000:9.1f} ms {first / base:23.1f}")
    print(f"  target: a first byte within {_TARGET} times that of the sign-in page")


if __name__ == "__main__":
    main()
