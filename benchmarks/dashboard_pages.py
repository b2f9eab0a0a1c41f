"""The time until the first byte and until the whole of every page of the dashboard, beside its sign-in page.

`python -m benchmarks.dashboard_pages` starts a MongoDB, makes up the demo's history of sixty days and starts
the service; once all facts are in columns, it asks for each page in turns and prints the medians. The first
byte is the first of the page itself, and should take at most three times that of the sign-in page; the whole
overview 0.5 s, and links sorted by clicks 0.2 s. `--links`, `--clicks` and `--sales` add links with a year of
clicks and sales to the history, such as 40,000, 5,000,000 and 100,000, and `--data` keeps them.
"""

from __future__ import annotations

import argparse
import asyncio
import secrets
import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
from pymongo import MongoClient

from backend.dashboard.frame.navigation import GROUPS
from backend.domain.accounts.sessions import new_session
from backend.domain.accounts.users import User
from backend.domain.ids import OrgId, UserId
from backend.settings import Settings
from backend.storage.accounts.users import sessions, users
from backend.storage.analytics.client import Analytics
from backend.storage.driver.mongo import Database
from backend.storage.links import links
from backend.system.clock import utc_now
from benchmarks.data.kept_year import kept_year, options
from benchmarks.measuring.analytics_process import AnalyticsProcess, until_ready
from benchmarks.measuring.servers import HYPERCORN, Server, service

_SIGN_IN = "/sign-in"
# What stands in a page instead of its figures.
_FAILED = (b"took too long", b"That can&#39;t be shown", b"being made anew")
_TARGET = 3
# Seconds until the whole.
_WHOLE = {"Overview": 0.5, "links, by clicks": 0.2}
_MORE_VIEWS = {
    "links, by clicks": "/links?sort=-clicks",
    "links, by revenue of 90 days": "/links?sort=-revenue&period=90",
    "attribution by link, a year": "/attribution?by=link&period=year",
    "overview, a year": "/?period=year",
}
_PATHS = {"Overview": "/", "Install the SDK": "/install", "Allowed origins": "/origins"}


@dataclass(slots=True)
class _Times:
    """Seconds until the first byte of a page, and until its last; and processor time of all processes.

    It `is_late` if it has a sentence in place of its figures.
    """

    first: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)
    processor: list[list[float]] = field(default_factory=list)
    is_late: bool = False


def main() -> None:
    """Measure and print."""
    parser = options(__doc__.partition("\n")[0])
    parser.set_defaults(links=0, clicks=0, sales=0)
    parser.add_argument("--rounds", type=int, default=15, help="how often each page is asked for")
    parser.add_argument("--only", default="", help="only pages whose names have this")
    asyncio.run(_measure(parser.parse_args()))


async def _measure(asked: argparse.Namespace) -> None:
    async with kept_year(asked) as year:
        token = await _signed_in(year.database, year.org_id)
        link = await year.database[links.NAME].find_one({"org_id": year.org_id, "external_id": {"$gt": ""}})
        assert link is not None  # the history has some
        pages = {name: path for name, path in _pages(link["_id"]).items() if asked.only in name}
        settings = year.settings
        with service(
            HYPERCORN, settings.data_dir, str(settings.mongodb_uri), settings.mongodb_database
        ) as running:
            analytics = Analytics(year.database, settings)
            await until_ready(analytics, year.org_id)
            await analytics.close()
            signed = _Signed(running, AnalyticsProcess(settings.data_dir), settings, token)
            times = await asyncio.to_thread(_ask, signed, pages, asked.rounds)
    _print(times, f"{year.amounts} beside the demo's history")


async def _signed_in(database: Database, org_id: OrgId) -> str:
    """The token of the session of a user of this organization."""
    user = User(UserId(secrets.token_hex(8)), f"{secrets.token_hex(8)}@example.com", "", (org_id,), utc_now())
    await users.insert_user(database, user)
    token = secrets.token_urlsafe(32)
    await sessions.insert_session(database, new_session(token, user.id, org_id, utc_now()))
    return token


def _pages(link_id: str) -> dict[str, str]:
    """The address of each page, by what it is called."""
    named = {
        item.label: _PATHS.get(item.label, f"/{item.endpoint}") for group in GROUPS for item in group.items
    }
    return named | {"a link": f"/links/{link_id}", "a link's sales": f"/links/{link_id}/sales"} | _MORE_VIEWS


@dataclass(frozen=True, slots=True)
class _Signed:
    """A running service with its process of analytics, and the token of somebody who is signed in."""

    service: Server
    analytics: AnalyticsProcess
    settings: Settings
    token: str

    def seconds(self, mongo: MongoClient[dict[str, Any]]) -> tuple[float, float, float]:
        """The processor time that the service, analytics and MongoDB have used."""
        return self.service.cpu_seconds, self.analytics.cpu_seconds, _mongodb_seconds(mongo)


def _ask(signed: _Signed, pages: Mapping[str, str], rounds: int) -> dict[str, _Times]:
    times = {name: _Times() for name in ("sign-in", *pages)}
    url, cookies = signed.service.url, {"waylink": signed.token}
    with (
        httpx.Client(base_url=url, timeout=180) as stranger,
        httpx.Client(base_url=url, timeout=180, cookies=cookies) as person,
        MongoClient[dict[str, Any]](signed.settings.mongodb_uri) as mongo,
    ):
        for at in range(-1, rounds):
            for name, path in pages.items():
                _take(stranger, _SIGN_IN, _Times() if at < 0 else times["sign-in"])  # the first fills caches
                page = _Times() if at < 0 else times[name]
                used = signed.seconds(mongo)
                _take(person, path, page)
                now = signed.seconds(mongo)
                page.processor.append([after - before for before, after in zip(used, now, strict=True)])
    return times


def _mongodb_seconds(mongo: MongoClient[dict[str, Any]]) -> float:
    """The processor time that MongoDB has used."""
    info = mongo.admin.command("serverStatus")["extra_info"]
    return float(info["user_time_us"] + info["system_time_us"]) / 1e6


def _take(client: httpx.Client, path: str, times: _Times) -> None:
    started = time.perf_counter()
    with client.stream("GET", path) as answer:
        pieces = answer.iter_raw()
        next(pieces)
        times.first.append(time.perf_counter() - started)
        body = b"".join(pieces)
        times.whole.append(time.perf_counter() - started)
    assert answer.status_code == httpx.codes.OK, (path, answer.status_code)
    times.is_late |= any(sentence in body for sentence in _FAILED)


def _print(times: Mapping[str, _Times], of: str) -> None:
    base = statistics.median(times["sign-in"].first)
    print(f"Pages of the dashboard, {of}, medians; processor time on average:")
    columns = ("first byte", "to sign-in", "the whole", "service", "analytics", "MongoDB")
    print(f"  {'page':<30}" + "".join(f" {column:>12}" for column in columns))
    for name, page in times.items():
        first, whole = statistics.median(page.first), statistics.median(page.whole)
        line = f"  {name:<30} {_ms(first)} {first / base:12.1f} {_ms(whole)}"
        line += "".join(f" {_ms(statistics.mean(of))}" for of in zip(*page.processor, strict=True))
        target = f"  (target: {_WHOLE[name]} s)" if name in _WHOLE else ""
        print(line + target + ("  says that it can't be shown" if page.is_late else ""))
    print(f"  target: a first byte within {_TARGET} times that of the sign-in page")


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:9.1f} ms"


if __name__ == "__main__":
    main()
