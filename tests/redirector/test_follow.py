"""Following short URLs: redirects, the error page, and the clicks."""

from __future__ import annotations

import asyncio
import re
import threading

import httpx
import pytest

from backend.app import Service
from backend.domain.links.links import Link
from backend.redirector.links import cache
from backend.storage.analytics.clicks.click_windows import ClickWindow
from backend.storage.analytics.client import Analytics
from backend.storage.driver.lanes import in_lane
from backend.storage.driver.mongo import Database
from backend.storage.links.links import find_link, resolve_link
from tests.conftest import MovableClock, OrganizationFactory
from tests.facts.organizations import TestOrganization
from tests.polling import until, wait_for_async
from tests.redirector.conftest import LinkFactory, Recorded


async def test_a_visit_is_redirected(visitor: httpx.AsyncClient, make_link: LinkFactory) -> None:
    """302 to the destination, with the visitor's query, the link's UTM and its id; nobody may store it."""
    link = await make_link(destination_url="https://shop.example/kites?a=1#top", utm={"utm_source": "mail"})
    answer = await visitor.get(f"/{link.path}?b=2&b&utm_source=other")
    assert answer.status_code == 302
    address, _, click_id = answer.headers["location"].removesuffix("#top").partition("&cl_click_id=")
    assert address == f"https://shop.example/kites?a=1&b=2&b&utm_source=mail&cl_link_id={link.id}"
    assert re.fullmatch(r"[\w-]{32}", click_id)
    assert answer.headers["cache-control"] == "no-store"


async def test_a_click_is_recorded_and_counted_once(
    visitor: httpx.AsyncClient,
    make_link: LinkFactory,
    recorded: Recorded,
    analytics: Analytics,
    clock: MovableClock,
) -> None:
    """Each redirect leaves one record with its facts, and one in the counts."""
    link = await make_link()
    for _ in range(3):
        await visitor.get(f"/{link.path}", headers={"referer": "https://News.Example/today?secret=1"})
    records = await recorded(link, 3)
    assert {record["referrer_host"] for record in records} == {"news.example"}
    assert {(record["org_id"], record["counted"], record["outcome"]) for record in records} == {
        (link.org_id, True, "web")
    }
    assert {(record["platform"], record["browser"], record["system"]) for record in records} == {
        ("desktop", "Chrome", "Windows")
    }

    async def counted() -> int:
        return (await analytics.ask(link.org_id, ClickWindow(link.id, clock()))).total

    assert await wait_for_async(counted, "not counted", lambda seen: seen >= 3) == 3


@pytest.mark.parametrize("path", ["nothing-here", "", "a/b/c", "favicon.ico"])
async def test_an_unknown_path_gets_the_error_page(
    visitor: httpx.AsyncClient, organization: TestOrganization, path: str
) -> None:
    """404, a page in HTML, neither stored nor indexed."""
    answer = await visitor.get(f"/{path}")
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    assert "noindex" in answer.headers["x-robots-tag"]
    assert "This link does not work" in answer.text


async def test_an_unknown_host_gets_the_error_page(
    visitor: httpx.AsyncClient, make_link: LinkFactory
) -> None:
    """A path that is a link's on one domain is nobody's on another."""
    link = await make_link()
    answer = await visitor.get(f"/{link.path}", headers={"host": "elsewhere.example"})
    assert answer.status_code == 404
    assert "This link does not work" in answer.text


async def test_another_organizations_domain_has_its_own_paths(
    visitor: httpx.AsyncClient, make_link: LinkFactory, make_organization: OrganizationFactory
) -> None:
    """The same path on another organization's domain is not this link."""
    link = await make_link()
    other = await make_organization()
    answer = await visitor.get(f"/{link.path}", headers={"host": other.domain})
    assert answer.status_code == 404


async def test_a_disabled_link_gets_the_error_page(
    visitor: httpx.AsyncClient, make_link: LinkFactory, recorded: Recorded
) -> None:
    """404 instead of the redirect; the visit is recorded and not counted."""
    link = await make_link(is_enabled=False)
    answer = await visitor.get(f"/{link.path}")
    assert (answer.status_code, "location" in answer.headers) == (404, False)
    [record] = await recorded(link, 1)
    assert (record["counted"], record["reason"]) == (False, "disabled")


async def test_the_stored_destination_stays_as_it_is(
    visitor: httpx.AsyncClient, make_link: LinkFactory, database: Database
) -> None:
    """Following a link does not change it."""
    link = await make_link(destination_url="https://bücher.example/ä?x=%7E")
    await visitor.get(f"/{link.path}?utm_source=a")
    stored = await find_link(database, link.id, link.org_id)
    assert stored is not None
    assert stored.destination_url == "https://bücher.example/ä?x=%7E"


@pytest.mark.parametrize("is_linked", [True, False], ids=["a link domain", "no link domain"])
async def test_visits_of_one_domain_hold_up_no_other(
    service: Service,
    make_organization: OrganizationFactory,
    make_link: LinkFactory,
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_linked: bool,
) -> None:
    """While unknown paths on one domain, or on hosts that are none, are looked up slowly, a link of another
    domain that is not in memory is found."""
    busy, link = (await make_organization()).domain, await make_link()
    await until(lambda: busy in service.redirector.domains.by_name, "the domain is not known")
    may_end = threading.Event()

    async def resolve_slowly(database: Database, domain: str, path: str) -> Link | None:
        if domain != link.domain:
            await in_lane(lambda: may_end.wait(60))
        return await resolve_link(database, domain, path)

    monkeypatch.setattr(cache, "resolve_link", resolve_slowly)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=service)) as visitor:
        hosts = [busy if is_linked else f"unknown-{number}.localhost" for number in range(40)]
        slow = [
            asyncio.ensure_future(visitor.get(f"http://{host}/unknown-{number}"))
            for number, host in enumerate(hosts)
        ]
        try:
            await until(lambda: sum(service._redirects._busy.values()) >= 8, "the look-ups do not begin")
            found = await asyncio.wait_for(visitor.get(f"http://{link.domain}/{link.path}"), 10)
            assert found.status_code == 302
        finally:
            may_end.set()
        assert {answer.status_code for answer in await asyncio.gather(*slow)} == {404}
