"""Destinations of links are looked at: what is found, how it is kept, and how often a host is asked."""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from backend.destination_watch import watch
from backend.destination_watch.step import check_next_links
from backend.destination_watch.watch import NAME, DestinationWatch
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.links import Link
from backend.storage.driver.mongo import Database
from backend.storage.links.destinations.broken import KEPT, find_broken, list_broken
from backend.storage.links.destinations.rounds import (
    begin_again,
    end_turn,
    next_links,
    rounds_over,
    take_turn,
)
from backend.storage.links.links import to_document
from backend.storage.processes.failing_items import list_failing
from backend.storage.processes.work import Work
from backend.system.clock import utc_now
from backend.web_client.destination_check import DestinationCheck
from backend.web_client.page_reader import PageReader
from tests.domain.links.destinations.test_policy import LINK
from tests.facts.organizations import TestOrganization, create_test_organization
from tests.facts.stored_links import insert_links
from tests.fresh_database import fresh_database
from tests.polling import until, wait_for_async
from tests.processes.far_site import Handler, Site

READER = PageReader(allows_private=True)
CHECK = DestinationCheck(READER, pause=0)


@pytest.fixture
async def own_database(database: Database) -> AsyncIterator[Database]:
    """A database in which there are no links of others to look at."""
    async with fresh_database(database) as fresh:
        yield fresh


def link_to(organization: TestOrganization, number: int, url: str, **fields: object) -> Link:
    """A link of the organization; its id is in the order of these numbers."""
    now = utc_now().replace(microsecond=0)
    return replace(
        LINK,
        id=LinkId(f"{number:04}"),
        path=f"p{number}",
        org_id=organization.id,
        destination_url=url,
        created_at=now,
        modified_at=now,
        **fields,  # type: ignore[arg-type]
    )


async def look(database: Database, check: DestinationCheck = CHECK) -> int:
    """Go on with a round; how many links were looked at."""
    begun = await take_turn(database, "test", "me", utc_now())
    assert begun
    return len((await check_next_links(database, check, begun, None, utc_now())).links)


async def test_what_is_found(own_database: Database, organization: TestOrganization, site: Site) -> None:
    """Errors and silence, in every field; not what answers GET alone, asks for patience, or leads nowhere
    anyway. What is mended is gone at the next look."""
    well, gone, dead = site.page("/", "here"), site.url("/gone"), "http://127.0.0.1:1/"

    def only_get(handler: Handler) -> None:
        handler.send_response(405 if handler.command == "HEAD" else 200)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    site.answers["/get"] = only_get
    later = site.page("/later", "", 429)
    urls = [well, site.url("/get"), later, gone, dead]
    links = [link_to(organization, number, url) for number, url in enumerate(urls)]
    links.append(link_to(organization, 5, well, fallbacks={"desktop_url": gone}))
    links.append(link_to(organization, 6, gone, is_enabled=False))
    await insert_links(own_database, links)
    assert await look(own_database) == 6
    broken = await list_broken(own_database, organization.id, 10)
    assert sorted((link.link.id, link.broken[0].field, link.broken[0].problem) for link in broken) == [
        ("0003", "destination_url", "answers with status 404"),
        ("0004", "destination_url", "does not answer"),
        ("0005", "desktop_url", "answers with status 404"),
    ]
    everyone = [link.id for link in links]
    assert await find_broken(own_database, organization.id, everyone) == {"0003", "0004", "0005"}
    site.page("/gone", "back")
    await begin_again(own_database, "test", utc_now())
    await look(own_database)
    assert {link.link.id for link in await list_broken(own_database, organization.id, 10)} == {"0004"}


async def test_since_when_and_how_long(
    own_database: Database, organization: TestOrganization, site: Site
) -> None:
    """The first look that found it counts; a month after the last one it is forgotten; a link that leads
    elsewhere now is not told of, nor one of another organization."""
    link = link_to(organization, 1, site.url("/gone"))
    await insert_links(own_database, [link])
    await look(own_database)
    (first,) = await list_broken(own_database, organization.id, 10)
    await begin_again(own_database, "test", utc_now())
    await look(own_database)
    (second,) = await list_broken(own_database, organization.id, 10)
    assert second.broken == first.broken
    assert second.checked_at > first.checked_at
    kept = await own_database["broken_destinations"].find_one({"_id": link.id})
    assert kept
    assert kept["expires_at"] == second.checked_at + KEPT
    assert await list_broken(own_database, organization.id.replace("-", "x"), 10) == []  # type: ignore[arg-type]
    elsewhere = to_document(replace(link, destination_url=site.url("/other")))
    await own_database["links"].replace_one({"_id": link.id}, elsewhere)
    assert await list_broken(own_database, organization.id, 10) == []


async def test_a_round_goes_on_where_it_stopped(
    own_database: Database, organization: TestOrganization, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behind the last links that were looked at, also by another process; and nobody takes another's turn."""
    url = site.page("/", "here")
    await insert_links(own_database, [link_to(organization, number, url) for number in range(30)])
    assert await look(own_database) == 20
    assert await take_turn(own_database, "test", "another", utc_now()) is None
    await end_turn(own_database, "test", "me", utc_now())
    begun = await take_turn(own_database, "test", "another", utc_now())
    assert begun
    assert begun.after == "0019"
    assert await take_turn(own_database, "test", "me", utc_now()) is None
    killed = utc_now() + timedelta(hours=1)
    assert await take_turn(own_database, "test", "me", killed)
    assert [await look(own_database) for _ in range(2)] == [10, 0]
    over = await take_turn(own_database, "test", "me", utc_now())
    assert over
    assert over.is_over


async def test_one_who_was_slow_sets_nobody_back(
    own_database: Database, organization: TestOrganization, site: Site
) -> None:
    """Whoever took longer than a turn, while another went on, leaves the place to which that one came."""
    url = site.page("/", "here")
    await insert_links(own_database, [link_to(organization, number, url) for number in range(50)])
    slow = await take_turn(own_database, "test", "slow", utc_now() - timedelta(hours=1))
    assert slow
    assert [await look(own_database) for _ in range(2)] == [20, 20]
    await check_next_links(own_database, CHECK, slow, None, utc_now())
    assert await look(own_database) == 10


async def test_a_host_is_asked_with_pauses(site: Site, tell: Callable[[str], None]) -> None:
    """One request after the other, HEAD only where that answers; another host meanwhile; an address once."""
    urls = [site.page(f"/{number}", "here") for number in range(4)]
    began = time.monotonic()
    problems = await DestinationCheck(READER, pause=0.2).problems(
        [*urls, *urls, "http://localhost:1/"], "shop"
    )
    assert problems == {"http://localhost:1/": "does not answer"}
    assert site.asked == [f"HEAD /{number}" for number in range(4)]
    assert time.monotonic() - began >= 0.6


async def test_a_turn_that_ended_is_not_taken_late(own_database: Database) -> None:
    """Who stops while it is about to take its turn again does not have it for ever after."""
    before = utc_now()
    assert await take_turn(own_database, NAME, "one", before)
    await end_turn(own_database, NAME, "one", utc_now())
    assert await take_turn(own_database, NAME, "one", before) is None
    assert await take_turn(own_database, NAME, "another", utc_now())


async def test_no_organization_is_not_every_one(
    own_database: Database, organization: TestOrganization, site: Site
) -> None:
    """The next links are those of the organization, or of all for None: for an empty id there are none."""
    await insert_links(own_database, [link_to(organization, 1, site.url("/"))])
    owners = (None, organization.id, OrgId(""))
    links_by_owner = [await next_links(own_database, owner, None, 10) for owner in owners]
    assert [len(links) for links in links_by_owner] == [1, 1, 0]


@pytest.fixture
def without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """The service goes on at once, and asks a host as often as it likes."""
    monkeypatch.setattr(watch, "_STEP_PAUSE", 0.01)
    monkeypatch.setattr(watch, "_LOOK_PAUSE", 0.01)
    monkeypatch.setattr(watch, "DestinationCheck", partial(DestinationCheck, pause=0.0))


async def everywhere_here(host: str, port: int) -> list[str]:
    """Each host is this machine."""
    return ["127.0.0.1"]


async def is_over(database: Database, organization: TestOrganization) -> bool:
    """Whether all links of the organization were looked at."""
    return bool(await rounds_over(database, f"{NAME}/{organization.id}", utc_now() - timedelta(hours=1)))


@pytest.mark.usefixtures("without_pauses")
async def test_the_service_looks_by_itself(own_database: Database, site: Site) -> None:
    """Where it is turned on: all links, once in its time; another process goes on after it has stopped."""
    organization = await create_test_organization(own_database)
    await insert_links(own_database, [link_to(organization, 1, site.url("/gone"))])
    watching = DestinationWatch(own_database, READER, utc_now, hours=24)
    await watching.start()
    try:
        await wait_for_async(lambda: is_over(own_database, organization), "nothing is looked at")
        assert await take_turn(own_database, NAME, "another", utc_now()) is None
    finally:
        await watching.stop()
    assert [link.link.id for link in await list_broken(own_database, organization.id, 10)] == ["0001"]
    asked = len(site.asked)
    assert await take_turn(own_database, NAME, "another", utc_now())
    off = DestinationWatch(own_database, READER, utc_now, hours=0)
    await off.start()
    await off.stop()
    assert len(site.asked) == asked


@pytest.mark.usefixtures("without_pauses")
async def test_hosts_that_do_not_answer_delay_no_other_organization(
    own_database: Database, site: Site
) -> None:
    """While many destinations of one hang, those of another are looked at, before and behind them, on the
    same host too; and the first one's round goes on meanwhile."""
    over, asked = threading.Event(), []

    def hang(handler: Handler) -> None:
        asked.append(handler.path)
        over.wait(60)
        handler.send_response(200)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    slow, other = [await create_test_organization(own_database, name) for name in ("Slow", "Other")]
    links = []
    slow_numbers = [number for number in range(1, 60) if number != 30]
    for number in slow_numbers:
        site.answers[f"/slow-{number}"] = hang
        url = site.url(f"/slow-{number}", f"{number}.example")
        links.append(link_to(slow, number, url, domain=slow.domain))
    links += [link_to(other, number, site.url("/gone"), domain=other.domain) for number in (0, 30, 60)]
    await insert_links(own_database, links)
    reader = PageReader(allows_private=True, resolve=everywhere_here)
    watching = DestinationWatch(own_database, reader, utc_now, hours=24)
    await watching.start()
    try:
        await until(lambda: asked, "no slow destination is asked")
        await wait_for_async(lambda: is_over(own_database, other), "the other one waits")
        assert len(await list_broken(own_database, other.id, 10)) == 3
        assert not await is_over(own_database, slow)
        over.set()
        await wait_for_async(lambda: is_over(own_database, slow), "its round does not end")
    finally:
        over.set()
        await watching.stop()
    assert {*asked} == {f"/slow-{number}" for number in slow_numbers}


async def test_a_link_that_can_not_be_checked_keeps_no_other_from_it(
    own_database: Database, organization: TestOrganization, site: Site
) -> None:
    """The round goes on behind it, and what is broken before and after it is found."""
    urls = [site.url("/gone"), "https://[no-address/", site.url("/gone")]
    await insert_links(own_database, [link_to(organization, number, url) for number, url in enumerate(urls)])
    assert await look(own_database) == 2
    broken = await list_broken(own_database, organization.id, 10)
    assert {link.link.id for link in broken} == {"0000", "0002"}
    [failing] = await list_failing(own_database, organization.id, Work.DESTINATIONS)
    assert (failing.item, failing.error) == ("0001", "ValueError")
    assert await look(own_database) == 0
