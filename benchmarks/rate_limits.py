"""The time that a rate limit adds to a request.

`python -m benchmarks.rate_limits` starts a MongoDB and two services on it, one of them without limits. It
sends both the same requests in turns, without a network in between; each figure is the median of many.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import uvloop

from backend.app import Service, create_app
from backend.rate_limits.limit import LimitState
from backend.settings import Settings
from backend.storage.embedded.mongodb import EmbeddedMongoDB
from tests.api.link_calls import API, create
from tests.facts.organizations import TestOrganization, create_test_organization
from tests.facts.sdk_batches import Visitor, call

Send = Callable[[], Awaitable[httpx.Response]]
_ALLOWED = LimitState(allowed=True, limit=1, remaining=1, reset_after=60)
_PLENTY = 10**9


class _NoExactLimit:
    """A limit that counts nothing."""

    async def count(self, _: str) -> LimitState:
        """Allow everything."""
        return _ALLOWED


class _NoSteppedLimit:
    """A limit that counts nothing."""

    def count(self, _: str, __: int = 1) -> LimitState:
        """Allow everything."""
        return _ALLOWED

    async def stop(self) -> None:
        """Do nothing: there is nothing to stop."""


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--requests", type=int, default=1000, help="how many of each kind")
    uvloop.run(_measure_all(options.parse_args().requests))


async def _measure_all(number: int) -> None:
    async with AsyncExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="waylink-bench-")))
        server = await opened.enter_async_context(EmbeddedMongoDB(folder / "mongodb"))
        settings = replace(
            Settings(), mongodb_uri=server.uri, rate_limit=_PLENTY, address_call_limit=_PLENTY,
            key_call_limit=_PLENTY, uncounted_visit_limit=_PLENTY,
        )  # fmt: skip
        limiting = await _start(opened, replace(settings, data_dir=folder / "limiting"))
        counting_nothing = await _start(opened, replace(settings, data_dir=folder / "counting-nothing"))
        _count_nothing(counting_nothing)
        organization = await create_test_organization(limiting.resources.database)
        with_limits = await _requests(opened, limiting, organization)
        without = await _requests(opened, counting_nothing, organization)
        for name, send in with_limits.items():
            await _compare(name, send, without[name], number)


async def _start(opened: AsyncExitStack, settings: Settings) -> Service:
    service = create_app(settings)
    await service.startup()
    opened.push_async_callback(service.shutdown)
    return service


def _count_nothing(service: Service) -> None:
    limits: Any = service.resources.rate_limits
    limits.rest_requests = _NoExactLimit()
    for name in ("calls_of_key", "calls_of_address", "_uncounted_visits"):
        setattr(limits, name, _NoSteppedLimit())


async def _requests(
    opened: AsyncExitStack, service: Service, organization: TestOrganization
) -> dict[str, Send]:
    """Functions that send one request each, by the name of the limit that applies to it."""
    transport = httpx.ASGITransport(app=service, client=("203.0.113.9", 4711))
    client = await opened.enter_async_context(
        httpx.AsyncClient(transport=transport, base_url="http://localhost:8080")
    )
    short_url = await create(client, organization)
    visitor = Visitor(client, organization)
    return {
        "REST look-up, counted exactly": lambda: client.post(
            f"{API}/links/info", json={"shortUrl": short_url}, headers=organization.headers
        ),
        "batch of one call, counted in steps": lambda: visitor.post(call("event", name="seen")),
        "redirect that does not count, counted in steps": lambda: client.head(
            short_url.replace("https://", "http://")
        ),
    }


async def _compare(name: str, with_limit: Send, without: Send, number: int) -> None:
    """Send with and without the limit in turns; print both medians and their ratio."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(number):
        for send, taken in zip((with_limit, without), times, strict=True):
            began = time.perf_counter()
            answer = await send()
            taken.append(time.perf_counter() - began)
            assert answer.status_code in {200, 302}, answer.text
    limited, free = (statistics.median(taken) * 1000 for taken in times)
    print(f"{name:<48} {limited:6.2f} ms, without {free:6.2f} ms: {limited / free:.2f} x", flush=True)
    await asyncio.sleep(0)


if __name__ == "__main__":
    main()
