"""What visitors get of links that are known to have changed, while MongoDB's reads are slow."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import cast

import pytest

from backend.domain.accounts.apps import Apps
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.links import Link
from backend.redirector.links.cache import LinkCache, LinkUnavailable
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from tests.polling import until
from tests.redirector.links.told_changes import DEADLINE, TellingDatabase

DOMAIN = "go.told.localhost"
OLD, NEW = "https://shop.example/old", "https://shop.example/new"
NOW = datetime(2026, 11, 21, tzinfo=UTC)
MANY = 100
# Longer than a visitor waits where an older link may be shown, and longer than anybody waits.
SLOW, TOO_SLOW = 0.3, 2.0


def link_at(path: str, destination: str = OLD) -> Link:
    """A link of before."""
    return Link(LinkId(path), OrgId("o"), DOMAIN, path, destination, "n", NOW, NOW)


@asynccontextmanager
async def followed(links: Sequence[Link]) -> AsyncIterator[tuple[TellingDatabase, LinkCache]]:
    """A database, and a cache that has these links of it in memory and follows their changes."""
    database = TellingDatabase()
    database.links = {(link.domain, link.path): link for link in links}
    cache = LinkCache(cast(Database, database), utc_now, capacity=1000, seconds_to_live=3600)
    await cache.start()
    try:
        await until(lambda: cache.follows_changes, "changes are not followed")
        for link in links:
            await cache.load(link.domain, link.path)
        yield database, cache
    finally:
        await cache.stop()


async def visit(cache: LinkCache, link: Link) -> str | None:
    """Where a visitor is led; None where there is no link, and 503 where that can't be said."""
    try:
        entry = cache.current(link.domain, link.path) or await cache.load(link.domain, link.path)
    except LinkUnavailable:
        return "503"
    return entry.link.destination_url if entry else None


async def told(cache: LinkCache, links: Sequence[Link]) -> None:
    """Return once the cache has been told of the last change, whatever came of it."""

    def is_old(link: Link) -> bool:
        entry = cache.current(link.domain, link.path)
        return bool(entry and entry.link.destination_url == OLD)

    await until(lambda: not any(map(is_old, links)), "the changes are not told")


async def test_links_that_have_changed_are_never_shown_as_they_were(tell: Callable[[str], None]) -> None:
    """Of a hundred links whose change is known none is shown as it was, and none is read for that."""
    links = [link_at(str(number)) for number in range(MANY)]
    async with followed(links) as (database, cache):
        database.seconds, database.reads = SLOW, 0
        for link in links:
            database.change(replace(link, destination_url=NEW))
        await told(cache, links)
        shown = [await visit(cache, link) for link in links]
        tell(f"reads of {SLOW} s: {shown.count(OLD)} of {MANY} changed links shown as they were")
        assert shown == [NEW] * MANY
        assert database.reads == 0
        assert len(cache) == MANY


@pytest.mark.parametrize(("seconds", "answer"), [(SLOW, None), (TOO_SLOW, "503")])
async def test_what_is_known_to_be_old_is_unavailable_at_worst(seconds: float, answer: str | None) -> None:
    """A deleted link is gone where a read says so in time, and else 503; one does not wait for the other."""
    links = [link_at(str(number)) for number in range(MANY)]
    async with followed(links) as (database, cache):
        database.seconds = seconds
        for link in links:
            database.delete(link)
        await told(cache, links)
        began = time.monotonic()
        assert await asyncio.gather(*(visit(cache, link) for link in links)) == [answer] * MANY
        assert time.monotonic() - began < 2 * DEADLINE


async def test_a_link_whose_new_form_can_not_be_read_is_not_shown_as_it_was() -> None:
    """A newer version may store what this one does not know: the old address is wrong all the same."""
    link, other = link_at("changed"), link_at("other")
    async with followed([link, other]) as (database, cache):
        database.seconds = TOO_SLOW
        database.change(replace(link, rules=[{"unknown": 1}]))
        await told(cache, [link])
        assert await visit(cache, link) == "503"
        assert await visit(cache, other) == OLD
        assert cache.failures == []


async def test_what_may_be_old_is_shown() -> None:
    """Where nothing was heard of a link since it was read, it is used while the database does not answer."""
    link = link_at("quiet")
    async with followed([]) as (database, cache):
        cache.fall_back_on([(link, Apps())])
        database.seconds = TOO_SLOW
        assert await visit(cache, link) == OLD


async def test_a_change_during_a_read_counts() -> None:
    """A read that began before the change is not taken for the link: it is read again."""
    link = link_at("read")
    async with followed([]) as (database, cache):
        database.links[DOMAIN, link.path] = link
        database.seconds = SLOW
        visiting = asyncio.create_task(visit(cache, link))
        await until(lambda: database.reads == 1, "it is not read")
        database.change(replace(link, destination_url=NEW))
        assert await visiting == NEW
        database.seconds = 0.0
        assert await visit(cache, link) == NEW


async def test_a_deletion_during_a_read_counts() -> None:
    """A read that found the link before it was deleted does not bring it back."""
    link = link_at("gone")
    async with followed([]) as (database, cache):
        database.links[DOMAIN, link.path] = link
        database.seconds = SLOW
        visiting = asyncio.create_task(visit(cache, link))
        await until(lambda: database.reads == 1, "it is not read")
        database.delete(link)
        assert await visiting is None
        assert await visit(cache, link) is None


async def test_a_change_while_a_visitor_waits_counts() -> None:
    """Of a link that may be old, the visitor gets what it has become, or nothing where it was deleted."""
    changed, deleted = link_at("a"), link_at("b")
    async with followed([]) as (database, cache):
        cache.fall_back_on([(changed, Apps()), (deleted, Apps())])
        database.links = {(DOMAIN, link.path): link for link in (changed, deleted)}
        database.seconds = TOO_SLOW
        visits = [asyncio.create_task(visit(cache, link)) for link in (changed, deleted)]
        await until(lambda: database.reads == 2, "they are not read")
        database.change(replace(changed, destination_url=NEW))
        database.delete(deleted)
        assert await asyncio.gather(*visits) == [NEW, "503"]
        assert await visit(cache, changed) == NEW
