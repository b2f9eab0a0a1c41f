"""Changes of links reach a process that has them in memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import httpx

from backend.app import Service
from backend.domain.accounts.apps import Apps, IosApp
from backend.domain.links.destinations.destination import Outcome, decide
from backend.domain.links.limits import LinkLimits
from backend.domain.links.links import CreatedBy, Hold, Link, LinkState
from backend.domain.links.operations import ArchiveLink, LinkRequest
from backend.redirector.links.cache import LinkCache
from backend.redirector.request.recognition import recognize
from backend.settings import Settings
from backend.storage.accounts import apps as apps_collection
from backend.storage.accounts import domains
from backend.storage.accounts.apps import set_apps
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.purge import purge_link
from backend.storage.links.destinations.policies import DestinationPolicies
from backend.storage.links.links import NAME
from backend.storage.links.writing.writes import store_link
from backend.system.clock import utc_now
from tests.destination_watch.test_step import link_to
from tests.facts.organizations import TestOrganization, create_test_organization
from tests.facts.stored_links import insert_links
from tests.fresh_database import fresh_database
from tests.polling import until, wait_for_async
from tests.redirector.conftest import LinkFactory


def at(cache: LinkCache, link: Link) -> Link:
    """The link as it is in the cache, where it must be current."""
    entry = cache.current(link.domain, link.path)
    assert entry
    return entry.link


async def test_a_disabled_link_stops_in_every_process(database: Database, make_link: LinkFactory) -> None:
    """The change stream brings it to a second cache, long before its time to live is over."""
    link = await make_link()
    cache = LinkCache(database, utc_now, capacity=10, seconds_to_live=3600)
    await cache.start()
    try:
        await until(lambda: cache.follows_changes, "the stream does not prove that it is current")
        await cache.load(link.domain, link.path)
        assert cache.current(link.domain, link.path)
        await database[NAME].update_one({"_id": link.id}, {"$set": {"is_enabled": False}})
        await until(lambda: not at(cache, link).is_enabled, "the change was not told")
    finally:
        await cache.stop()


async def test_the_apps_of_a_domain_change_in_every_process(
    database: Database, make_link: LinkFactory, organization: TestOrganization
) -> None:
    """The change stream brings them to all links of the domain, which stay current, and so when they go."""
    links = [await make_link() for _ in range(2)]
    cache = LinkCache(database, utc_now, capacity=10, seconds_to_live=3600)
    await cache.start()

    def apps() -> list[Apps]:
        entries = [cache.current(link.domain, link.path) for link in links]
        return [entry.apps for entry in entries if entry]

    try:
        await until(lambda: cache.follows_changes, "the stream does not prove that it is current")
        for link in links:
            await cache.load(link.domain, link.path)
        app = Apps(IosApp("A1B2C3D4E5", "com.shop.app", "123"))
        await set_apps(database, organization.domain, organization.id, app)
        await until(lambda: apps() == [app, app], "the app was not told")
        await database[apps_collection.NAME].delete_one({"_id": organization.domain})
        await until(lambda: apps() == [Apps(), Apps()], "that the app is gone was not told")
    finally:
        await cache.stop()


async def test_an_archived_and_a_purged_link_stop_in_every_process(
    database: Database, make_link: LinkFactory
) -> None:
    """The change stream tells a second cache of both, and other links stay current there."""
    link, other = await make_link(), await make_link()
    cache = LinkCache(database, utc_now, capacity=10, seconds_to_live=3600)
    await cache.start()
    archive = LinkRequest(link.org_id, CreatedBy.REST, utc_now(), ArchiveLink(link.id))
    try:
        await until(lambda: cache.follows_changes, "the stream does not prove that it is current")
        for known_link in (link, other):
            await cache.load(known_link.domain, known_link.path)
        await store_link(database, archive, DestinationPolicies(database))
        await until(lambda: at(cache, link).is_archived, "the archiving was not told")
        assert at(cache, link).state_at(utc_now()) is LinkState.ARCHIVED
        assert decide(at(cache, link), recognize(b""), Apps()) is Outcome.NOT_FOUND
        assert await purge_link(database, None, link.id, link.org_id, utc_now())
        await until(lambda: not cache.current(link.domain, link.path), "the purge was not told")
        assert await cache.load(link.domain, link.path) is None
        assert cache.current(other.domain, other.path)
    finally:
        await cache.stop()


async def test_a_link_is_read_again_after_its_time_to_live(
    database: Database, make_link: LinkFactory
) -> None:
    """Without a change stream, the time to live decides."""
    link = await make_link()
    cache = LinkCache(database, utc_now, capacity=10, seconds_to_live=0.001)
    await cache.load(link.domain, link.path)
    await until(lambda: not cache.current(link.domain, link.path), "it is never read again")


async def test_the_cache_keeps_the_links_used_last(database: Database, make_link: LinkFactory) -> None:
    """Over its capacity, the link that was not used for longest leaves."""
    cache = LinkCache(database, utc_now, capacity=2, seconds_to_live=3600)
    first, second, third = [await make_link() for _ in range(3)]
    for link in (first, second, first, third):
        if cache.current(link.domain, link.path) is None:
            await cache.load(link.domain, link.path)
    assert len(cache) == 2
    assert cache.current(first.domain, first.path) is not None
    assert cache.current(second.domain, second.path) is None


async def test_addresses_of_rules_take_room_in_the_cache(database: Database, make_link: LinkFactory) -> None:
    """Each takes as much as a link without rules, until its link is changed or leaves."""
    cache = LinkCache(database, utc_now, capacity=10, seconds_to_live=3600)
    parts = [{"name": f"{n}", "weight": 1, "destination_url": f"https://{n}.example/"} for n in range(8)]
    large = await make_link(rules=[{"if": {}, "then": {"split": parts}}])
    others = [await make_link() for _ in range(3)]
    sizes = []
    for link in (others[0], large, others[1], large, others[2], others[0]):
        await cache.load(link.domain, link.path)
        sizes.append(len(cache))
    assert sizes == [1, 2, 2, 2, 2, 2]
    assert not cache.current(large.domain, large.path)


async def test_a_disabled_link_is_an_error_page_before_the_cache_reads_it_again(
    visitor: httpx.AsyncClient,
    make_link: LinkFactory,
    database: Database,
    service: Service,
    settings: Settings,
) -> None:
    """A visitor who got the redirect gets the error page once the link is disabled."""
    link = await make_link()
    await until(lambda: service.redirector.cache.follows_changes, "the stream is not current")
    assert (await visitor.get(f"/{link.path}")).status_code == 302
    await database[NAME].update_one({"_id": link.id}, {"$set": {"is_enabled": False}})
    answer = await wait_for_async(
        lambda: visitor.get(f"/{link.path}"),
        "the link still redirects",
        lambda answer: answer.status_code != 302,
        seconds=settings.link_cache_seconds / 2,  # by the stream, not by the time to live
    )
    assert answer.status_code == 404


async def test_the_memory_of_a_cache_has_a_bound(database: Database, make_link: LinkFactory) -> None:
    """However long the texts of links are, in whatever field: links with many of them leave room for fewer,
    and those with short ones for as many as the setting says."""
    long = "https://shop.example/" + "x" * 2_000
    fields: list[dict[str, object]] = [
        {"destination_url": long},
        {"destination_url": long.replace("x", "\N{SNOWMAN}")},
        {"social": {f"social_{name}": "x" * 1_500 for name in ("title", "description", "image")}},
        {"fallbacks": dict.fromkeys(("ios_url", "android_url", "desktop_url"), long)},
        {"limits": LinkLimits(expired_url=long)},
        {"hold": Hold(utc_now(), "x" * 3_000)},
        {"rules": [{"if": {}, "then": {"destination_url": long}}]},
    ]
    for large, most in [({}, 100), *((large, 100 // 3) for large in fields)]:
        cache = LinkCache(database, utc_now, capacity=100, seconds_to_live=3600)
        link = await make_link(**large)
        cache.fall_back_on([(replace(link, path=f"p{number}"), Apps()) for number in range(200)])
        assert most // 4 < len(cache) <= most, large


# In a link, in its domain, and in the domain's apps.
DAMAGES: list[tuple[str, dict[str, Any]]] = [
    (NAME, {"limits": "many"}),
    (NAME, {"limits": {"expires_at": "soon"}}),
    (NAME, {"path": 5}),
    (NAME, {"domain": None}),
    (NAME, {"destination_url": 7}),
    (NAME, {"utm": 3}),
    (NAME, {"fallbacks": ["x"]}),
    (NAME, {"rules": "x"}),
    (NAME, {"rules": [{"conditions": 1}]}),
    (NAME, {"ios_behavior": "often"}),
    (NAME, {"hold": 1}),
    (NAME, {"forwards_query": 1, "forwards_path": "x"}),
    (domains.NAME, {"settings": "x"}),
    (domains.NAME, {"settings": {"root_url": 5, "brand": 1}}),
    (apps_collection.NAME, {"ios": "x"}),
    (apps_collection.NAME, {"android": {"fingerprints": 1}}),
]


async def test_what_can_not_be_read_of_one_keeps_no_change_of_another(service: Service) -> None:
    """Whatever is damaged in a link, its domain or its apps, the stream goes on, and other organizations'
    links are changed in memory as before."""
    async with fresh_database(service.resources.database) as database:
        broken, whole = [await create_test_organization(database, name) for name in ("Broken", "Whole")]
        cache = LinkCache(database, utc_now, capacity=1_000_000, seconds_to_live=3600)
        await cache.start()
        try:
            await until(lambda: cache.follows_changes, "the stream does not prove that it is current")
            other = link_to(whole, 0, "https://shop.example/", domain=whole.domain)
            await insert_links(database, [other])
            await set_apps(
                database, broken.domain, broken.id, Apps(IosApp("A1B2C3D4E5", "com.shop.app", "1"))
            )
            assert await cache.load(other.domain, other.path)
            for number, (collection, damage) in enumerate(DAMAGES, 1):
                link = link_to(broken, number, "https://shop.example/", domain=broken.domain)
                await insert_links(database, [link])
                assert await cache.load(link.domain, link.path)
                damaged = link.id if collection == NAME else broken.domain
                former = await database[collection].find_one({"_id": damaged})
                assert former
                await database[collection].update_one({"_id": damaged}, {"$set": damage})
                address = f"https://shop.example/{number}"
                await database[NAME].update_one({"_id": other.id}, {"$set": {"destination_url": address}})
                await until(
                    lambda address=address: at(cache, other).destination_url == address,  # type: ignore[misc]
                    f"the change is not told after {damage}",
                )
                assert cache.failures == []
                await database[collection].replace_one({"_id": damaged}, former)
        finally:
            await cache.stop()
