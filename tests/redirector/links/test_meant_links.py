"""Visitors who mean a link, and ask for what texts, mail programs and QR codes make of its path."""

from __future__ import annotations

from datetime import timedelta

import httpx
import pytest

from backend.app import Service
from backend.domain.links.limits import LinkLimits
from backend.storage.accounts.domain_settings import store_domain_settings
from backend.storage.accounts.users.passwords import hash_password
from backend.storage.driver.mongo import Database
from backend.storage.links.orphans import find_orphans
from backend.system.clock import utc_now
from tests.facts.organizations import TestOrganization
from tests.polling import until
from tests.redirector.conftest import LinkFactory, Recorded
from tests.redirector.links.test_forwarding_links import where


@pytest.mark.parametrize(
    "around", ["/", "//", ".", ",", ")", "]", "%3E", "%22", "%20", "%E2%80%8B", "%C2%A0", "%E2%80%9D)."]
)
async def test_what_stands_behind_it(
    visitor: httpx.AsyncClient, make_link: LinkFactory, recorded: Recorded, around: str
) -> None:
    """The link is followed, and its click counts."""
    link = await make_link(destination_url="https://shop.example/kites")
    assert await where(visitor, f"/{link.path}{around}?ref=1") == "https://shop.example/kites?ref=1"
    assert [click["counted"] for click in await recorded(link, 1)] == [True]


async def test_a_query_in_the_path(visitor: httpx.AsyncClient, make_link: LinkFactory) -> None:
    """What the path hides is passed on as if it had been sent, before the query itself."""
    link = await make_link(destination_url="https://shop.example/kites")
    for hidden in ("&utm_source=x", "&amp;utm_source=x", "%3Futm_source%3Dx", "%253Futm_source%253Dx"):
        address = await where(visitor, f"/{link.path}{hidden}?b=2")
        assert address == "https://shop.example/kites?utm_source=x&b=2"


async def test_an_exact_link_wins(visitor: httpx.AsyncClient, make_link: LinkFactory) -> None:
    """No two links are one: of links that differ by case or a dot, each is found by its own path."""
    paths = ("spring", "Spring", "spring.", "autumn")
    for path in paths:
        await make_link(path=path, destination_url=f"https://shop.example/{path}")
    for path in paths:
        assert await where(visitor, f"/{path}") == f"https://shop.example/{path}"
        assert await where(visitor, f"/{path}/") == f"https://shop.example/{path}"
    assert await where(visitor, "/SPRING") == ""
    assert await where(visitor, "/AUTUMN,") == "https://shop.example/autumn"


async def test_a_link_above_in_other_case(visitor: httpx.AsyncClient, make_link: LinkFactory) -> None:
    """The only link with such letters passes on the rest as it was sent; of two, none does."""
    await make_link(path="docs", destination_url="https://shop.example/d", forwards_path=True)
    await make_link(path="docs/Plain", destination_url="https://shop.example/plain")
    for path in ("two", "Two"):
        await make_link(path=path, destination_url="https://shop.example/2", forwards_path=True)
    await make_link(path="none", destination_url="https://shop.example/n")
    assert await where(visitor, "/DOCS/A/b?c=1") == "https://shop.example/d/A/b?c=1"
    assert await where(visitor, "/docs/PLAIN") == "https://shop.example/d/PLAIN"
    assert await where(visitor, "/DOCS/PLAIN") == "https://shop.example/plain"
    assert [await where(visitor, path) for path in ("/TWO/a", "/NONE/a")] == ["", ""]


async def test_a_code_of_a_path_in_other_case(visitor: httpx.AsyncClient, make_link: LinkFactory) -> None:
    """It is that of the link's own short URL, whatever stands before the suffix for it."""
    link = await make_link(path="kite-sale")
    own = await visitor.get(f"/{link.path}.qr.svg")
    for path in ("/KITE-sale.qr.svg", "/kite-sale/.qr.svg", "/kite-sale..qr.svg"):
        code = await visitor.get(path)
        assert (code.status_code, code.content) == (200, own.content), path
    assert (await visitor.get("/nothing-there.qr.svg")).status_code == 404


async def test_case_is_an_option_of_the_domain(
    service: Service, visitor: httpx.AsyncClient, make_link: LinkFactory, organization: TestOrganization
) -> None:
    """Without it, a path in other case finds nothing, and what stands behind it still does not matter."""
    link = await make_link(path="spring-sale")
    assert await where(visitor, "/SPRING-Sale/")
    database, domains = service.resources.database, service.redirector.domains.by_name
    await store_domain_settings(database, organization.id, link.domain, {"ignores_case": False})
    await until(lambda: not domains[link.domain].settings.ignores_case, "the option was not heard of")
    assert await where(visitor, "/SPRING-Sale/") == ""
    assert await where(visitor, "/spring-sale)")


async def test_other_requests(visitor: httpx.AsyncClient, make_link: LinkFactory) -> None:
    """HEAD is answered as GET is, and a password is taken where its page was shown."""
    link = await make_link(destination_url="https://shop.example/kites")
    assert (await visitor.head(f"/{link.path}%20")).status_code == 302
    locked = await make_link(limits=LinkLimits(password_hash=await hash_password("red kites", "a")))
    for path in (f"/{locked.path}/", f"/{locked.path})"):
        assert "password" in (await visitor.get(path)).text
        assert (await visitor.post(path, data={"password": "red kites"})).status_code == 303


async def test_what_finds_nothing_is_an_orphan(
    service: Service, visitor: httpx.AsyncClient, database: Database, organization: TestOrganization
) -> None:
    """The list has it as people read it; what nobody could see stays percent-encoded."""
    domains = service.redirector.domains.by_name
    await until(lambda: organization.domain in domains, "the domain was not heard of")
    for path in ("/sp%C3%A4ti", "/nothing%E2%80%8B", "/%FFx", "/a%20b", "/me%40shop.example", "/x,y"):
        assert (await visitor.get(path)).status_code == 404
    await service.redirector.orphans.store()
    today = utc_now().date()
    found = await find_orphans(
        database, organization.id, organization.domain, today, today + timedelta(days=1)
    )
    readable = {"sp\u00e4ti", "nothing%E2%80%8B", "%FFx", "a%20b", "x,y"}
    assert {orphan.path for orphan in found.orphans} == readable
    assert dict(found.not_kept) == {"unreadable": 1}
