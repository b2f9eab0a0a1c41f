"""Checks whether web addresses answer, with a pause between two requests to a host."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterable
from urllib.parse import urlsplit

from backend.web_client.page_reader import PageReader, Unreadable

_TOO_MANY_REQUESTS = 429
_OWNER = "checks of destinations"


class DestinationCheck:
    """Checks addresses: of different hosts at once, of one host one after another, `pause` seconds apart."""

    def __init__(self, reader: PageReader, *, pause: float = 1.0) -> None:
        self._reader = reader
        self._pause = pause
        self._asked: dict[str, float] = {}  # when each host was asked last, by the monotonic clock

    async def problems(self, urls: Iterable[str]) -> dict[str, str]:
        """The problems by address, for those addresses that have one. A problem completes "it ..."."""
        by_host: defaultdict[str, list[str]] = defaultdict(list)
        for url in dict.fromkeys(urls):
            by_host[urlsplit(url).hostname or ""].append(url)
        self._forget(time.monotonic() - self._pause)
        problems: dict[str, str] = {}
        await asyncio.gather(*(self._ask_all(host, of_host, problems) for host, of_host in by_host.items()))
        return problems

    async def _ask_all(self, host: str, urls: Iterable[str], problems: dict[str, str]) -> None:
        for url in urls:
            if problem := await self._problem(host, url):
                problems[url] = problem

    async def _problem(self, host: str, url: str) -> str | None:
        """The problem of an address, or None. GET is only tried where HEAD, which costs less, fails."""
        if await self._ask(host, url, "HEAD") is None:
            return None
        return await self._ask(host, url, "GET")

    async def _ask(self, host: str, url: str, method: str) -> str | None:
        await asyncio.sleep(max(0.0, self._asked.get(host, 0.0) + self._pause - time.monotonic()))
        try:
            status = (await self._reader.read(url, _OWNER, method=method)).status
        except Unreadable as error:
            return str(error)
        finally:
            self._asked[host] = time.monotonic()
        # A host that is asked too often says nothing of its page.
        return f"answers with status {status}" if status >= 400 and status != _TOO_MANY_REQUESTS else None

    def _forget(self, before: float) -> None:
        self._asked = {host: at for host, at in self._asked.items() if at > before}
