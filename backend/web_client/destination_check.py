"""Checks whether web addresses answer, with a pause between two requests to a host."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Hashable, Iterable
from urllib.parse import urlsplit

from backend.web_client.page_reader import PageReader, Unreadable

_TOO_MANY_REQUESTS = 429


class DestinationCheck:
    """Checks addresses: of different hosts at once, of one host one after another, `pause` seconds apart.

    Where several owners ask a host, each has its turns there, and none waits for an answer to another.
    """

    def __init__(self, reader: PageReader, *, pause: float = 1.0) -> None:
        self._reader = reader
        self._pause = pause
        self._next_at: dict[str, float] = {}  # when each host may be asked, by the monotonic clock

    async def problems(self, urls: Iterable[str], owner: Hashable) -> dict[str, str]:
        """The problems by address, for those addresses that have one. A problem completes "it ...".

        `owner` is whose addresses they are, such as an organization.
        """
        by_host: defaultdict[str, list[str]] = defaultdict(list)
        for url in dict.fromkeys(urls):
            by_host[urlsplit(url).hostname or ""].append(url)
        self._forget(time.monotonic())
        asked = (self._ask_all(host, of_host, owner) for host, of_host in by_host.items())
        return {url: problem for found in await asyncio.gather(*asked) for url, problem in found.items()}

    async def _ask_all(self, host: str, urls: Iterable[str], owner: Hashable) -> dict[str, str]:
        problems = {url: await self._problem(host, url, owner) for url in urls}
        return {url: problem for url, problem in problems.items() if problem}

    async def _problem(self, host: str, url: str, owner: Hashable) -> str | None:
        """The problem of an address, or None. GET is only tried where HEAD, which costs less, fails."""
        if await self._ask(host, url, owner, "HEAD") is None:
            return None
        return await self._ask(host, url, owner, "GET")

    async def _ask(self, host: str, url: str, owner: Hashable, method: str) -> str | None:
        now = time.monotonic()
        turn = max(now, self._next_at.get(host, now))
        self._next_at[host] = turn + self._pause
        await asyncio.sleep(turn - now)
        try:
            status = (await self._reader.read(url, owner, method=method)).status
        except Unreadable as error:
            return str(error)
        finally:
            self._next_at[host] = max(self._next_at.get(host, 0.0), time.monotonic() + self._pause)
        # A host that is asked too often says nothing of its page.
        return f"answers with status {status}" if status >= 400 and status != _TOO_MANY_REQUESTS else None

    def _forget(self, before: float) -> None:
        self._next_at = {host: at for host, at in self._next_at.items() if at > before}
