"""Looks whether addresses answer, without being a burden to any host."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterable
from urllib.parse import urlsplit

from backend.web_client.page_reader import PageReader, Unreadable

_TOO_MANY_REQUESTS = 429


class DestinationCheck:
    """Asks hosts side by side, and one host one time after the other, with a pause of `pause` seconds."""

    def __init__(self, reader: PageReader, *, pause: float = 1.0) -> None:
        self._reader = reader
        self._pause = pause
        self._asked: dict[str, float] = {}  # when each host was asked last, by the monotonic clock

    async def problems(self, urls: Iterable[str]) -> dict[str, str]:
        """What is wrong with those of these addresses that do not answer well; each completes "it ..."."""
        by_host: defaultdict[str, list[str]] = defaultdict(list)
        for url in dict.fromkeys(urls):
            by_host[urlsplit(url).hostname or ""].append(url)
        self._forget(time.monotonic() - self._pause)
        found: dict[str, str] = {}
        await asyncio.gather(*(self._ask_all(host, each, found) for host, each in by_host.items()))
        return found

    async def _ask_all(self, host: str, urls: Iterable[str], found: dict[str, str]) -> None:
        for url in urls:
            if problem := await self._problem(host, url):
                found[url] = problem

    async def _problem(self, host: str, url: str) -> str | None:
        """HEAD first, which costs the host least; what does not answer that well may still answer GET."""
        if await self._ask(host, url, "HEAD") is None:
            return None
        return await self._ask(host, url, "GET")

    async def _ask(self, host: str, url: str, method: str) -> str | None:
        await asyncio.sleep(max(0.0, self._asked.get(host, 0.0) + self._pause - time.monotonic()))
        try:
            status = (await self._reader.read(url, method=method)).status
        except Unreadable as error:
            return str(error)
        finally:
            self._asked[host] = time.monotonic()
        # A host that is asked too often says nothing of its page.
        return f"answers with status {status}" if status >= 400 and status != _TOO_MANY_REQUESTS else None

    def _forget(self, before: float) -> None:
        self._asked = {host: at for host, at in self._asked.items() if at > before}
