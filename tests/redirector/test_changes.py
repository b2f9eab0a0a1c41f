"""Changes of links reach a process that has them in memory."""

# ruff: noqa: ASYNC110 - these tests poll until a change is seen

from __future__ import annotations

import asyncio
import time

import httpx

from backend.redirector.link_cache import LinkCache
from backend.storage.links import NAME
from backend.storage.mongo import Database
from tests.polling import wait_for_async
from tests.redirector.conftest import LinkFactory


async def test_a_disabled_link_stops_in_every_process(database: Database, make_link: LinkFactory) -> None:
    """The change stream tells a second cache, long before its time to live is over."""
    link = await make_link()
    cache = LinkCache(database, capacity=10, seconds_to_live=3600)
    cache.start()
    try:
        while (await cache.load(link.domain, link.path)) is None or cache._watched_since == float("inf"):
            await asyncio.sleep(0.01)
        await cache.load(link.domain, link.path)
        await database[NAME].update_one({"_id": link.id}, {"$set": {"is_enabled": False}})
        deadline = time.monotonic() + 20
        while cache.current(link.domain, link.path) and time.monotonic() < deadline:
            await asyncio.sleep(0.01)
        entry = await cache.load(link.domain, link.path)
        assert entry is not None
        assert entry.link.is_enabled is False
    finally:
        await cache.stop()


async def test_a_link_is_read_again_after_its_time_to_live(
    database: Database, make_link: LinkFactory
) -> None:
    """Without a change stream, the time to live decides."""
    link = await make_link()
    cache = LinkCache(database, capacity=10, seconds_to_live=0.001)
    await cache.load(link.domain, link.path)
    deadline = time.monotonic() + 20
    while cache.current(link.domain, link.path) and time.monotonic() < deadline:
        await asyncio.sleep(0.001)
    assert cache.current(link.domain, link.path) is None


async def test_the_cache_keeps_the_links_used_last(database: Database, make_link: LinkFactory) -> None:
    """Over its capacity, the link that was not used for longest leaves."""
    cache = LinkCache(database, capacity=2, seconds_to_live=3600)
    first, second, third = [await make_link() for _ in range(3)]
    for link in (first, second, first, third):
        if cache.current(link.domain, link.path) is None:
            await cache.load(link.domain, link.path)
    assert len(cache) == 2
    assert cache.current(first.domain, first.path) is not None
    assert cache.current(second.domain, second.path) is None


async def test_a_disabled_link_is_an_error_page_within_a_second(
    visitor: httpx.AsyncClient, make_link: LinkFactory, database: Database
) -> None:
    """A visitor who got the redirect gets the error page once the link is disabled."""
    link = await make_link()
    assert (await visitor.get(f"/{link.path}")).status_code == 302
    await database[NAME].update_one({"_id": link.id}, {"$set": {"is_enabled": False}})
    answer = await wait_for_async(
        lambda: visitor.get(f"/{link.path}"),
        "the link still redirects",
        lambda answer: answer.status_code != 302,
    )
    assert answer.status_code == 404
