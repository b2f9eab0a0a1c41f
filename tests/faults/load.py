"""Visitors and browsers that keep a running service busy, and remember what it answered them."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, call
from tests.polling import until


@dataclass
class Load:
    """What was answered so far, and what was not."""

    base_url: str
    organization: TestOrganization
    path: str
    redirects: int = 0
    acknowledged: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    stopped: asyncio.Event = field(default_factory=asyncio.Event)

    async def visit(self) -> None:
        """Follow the short URL on a connection that stays open."""
        async with httpx.AsyncClient(headers={"host": self.organization.domain}, timeout=60) as client:
            await self._until_refused(lambda: self._follow(client))

    async def visit_anew(self) -> None:
        """Follow the short URL, each time on a new connection."""
        async with httpx.AsyncClient(
            headers={"host": self.organization.domain, "connection": "close"}, timeout=60
        ) as client:
            await self._until_refused(lambda: self._follow(client))

    async def send_batches(self) -> None:
        """Send events as the browser SDK does."""
        async with httpx.AsyncClient(base_url=self.base_url, timeout=60) as client:
            visitor = Visitor(client, self.organization)
            await self._until_refused(lambda: self._send(visitor))

    async def _follow(self, client: httpx.AsyncClient) -> None:
        answer = await client.get(f"{self.base_url}/{self.path}")
        if answer.status_code == 302:
            self.redirects += 1
        else:
            self.others.append(f"redirect: {answer.status_code}")

    async def _send(self, visitor: Visitor) -> None:
        event = call("event", name="e")
        answer = await visitor.post(event)
        if answer.status_code == 200 and answer.json()["results"][0]["status"] == "accepted":
            self.acknowledged.append(event["call_id"])
        else:
            self.others.append(f"batch: {answer.status_code} {answer.text}")

    async def _until_refused(self, request: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Ask until told to stop, or until nobody takes connections any more; keep what was not answered."""
        while not self.stopped.is_set():
            try:
                await request()
            except httpx.ConnectError:
                return
            except httpx.TransportError as error:
                self.others.append(f"not answered: {error!r}")


async def answers(load: Load, least: int) -> None:
    """Return when so many visits and so many batches were answered."""
    await until(
        lambda: load.redirects >= least and len(load.acknowledged) >= least // 10,
        "visitors and browsers are not answered",
        seconds=60,
    )


def new_path() -> str:
    """A path that no other test's link has."""
    return f"l{uuid.uuid4().hex[:10]}"
