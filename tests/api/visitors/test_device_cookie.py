"""The device cookie by header: renewed where the browser sent it along, and nowhere else."""

from __future__ import annotations

from http.cookies import Morsel, SimpleCookie

import httpx
import pytest

from backend.sdk_api.device_cookie import KEPT, NAME
from backend.storage.accounts import origins
from backend.storage.accounts.organizations import set_device_cookie
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from tests.conftest import OrganizationFactory
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import BATCH, Visitor, conversion


@pytest.fixture
async def visitor(client: httpx.AsyncClient, database: Database, organization: TestOrganization) -> Visitor:
    """A visitor of an organization that wants the cookie renewed."""
    await set_device_cookie(database, organization.id, True, None)
    return Visitor(client, organization)


async def renewed(visitor: Visitor, cookie: str | None = None, origin: str = "") -> Morsel[str] | None:
    """The cookie of the answer to a conversion that came with this cookie (by default the visitor's own).

    The one beside it that tells the SDK of it must be its double.
    """
    sent = f"cl_device_id={visitor.device_id}" if cookie is None else cookie
    headers = {"Cookie": sent, "Origin": origin or visitor.organization.origin}
    answer = await visitor.post(conversion(), headers=headers)
    assert answer.status_code == 200, answer.text
    visitor.client.cookies.clear()
    cookies = [SimpleCookie(text) for text in answer.headers.get_list("Set-Cookie")]
    own, kept = ([cookie[name] for cookie in cookies if name in cookie] for name in (NAME, KEPT))
    assert len(cookies) == len(own) + len(kept)
    assert [dict(cookie) | {"value": cookie.value} for cookie in own] == [
        dict(cookie) | {"value": cookie.value} for cookie in kept
    ]
    return own[0] if own else None


async def test_it_is_the_sdks_cookie(visitor: Visitor) -> None:
    """The same name, value and attributes as the SDK sets, and scripts can read it."""
    cookie = await renewed(visitor)
    assert cookie is not None
    assert cookie.value == visitor.device_id
    assert int(cookie["max-age"]) == 400 * 24 * 60 * 60
    assert (cookie["path"], cookie["samesite"], cookie["secure"]) == ("/", "Lax", True)
    assert not cookie["httponly"]


@pytest.mark.parametrize(
    ("origin", "domain"),
    [
        ("https://shop.example", "shop.example"),
        ("https://www.app.shop.example", "shop.example"),
        ("https://a.b.acme.com.au", "acme.com.au"),
        ("https://foo.github.io", "foo.github.io"),
        ("https://www.city.kawasaki.jp", "city.kawasaki.jp"),
        ("https://github.io", ""),
        ("http://shop.localhost:8080", "shop.localhost"),
        ("http://localhost:8080", ""),
        ("http://127.0.0.1:8080", ""),
    ],
)
async def test_the_domain_is_the_widest_that_browsers_accept(
    visitor: Visitor, database: Database, origin: str, domain: str
) -> None:
    """The domain that the SDK finds by trying, for every page of a site; Secure on https only."""
    await origins.add_origin(database, origin, visitor.organization.id, utc_now())
    cookie = await renewed(visitor, origin=origin)
    assert cookie is not None
    assert (cookie["domain"], bool(cookie["secure"])) == (domain, origin.startswith("https:"))


@pytest.mark.parametrize(
    ("chosen", "domain"), [("app.shop.example", "app.shop.example"), ("other.example", "shop.example")]
)
async def test_a_chosen_domain(visitor: Visitor, database: Database, chosen: str, domain: str) -> None:
    """What sites give `init` as cookieDomain is used on its own pages, and nowhere else."""
    await set_device_cookie(database, visitor.organization.id, True, chosen)
    origin = "https://www.app.shop.example"
    await origins.add_origin(database, origin, visitor.organization.id, utc_now())
    cookie = await renewed(visitor, origin=origin)
    assert cookie is not None
    assert cookie["domain"] == domain


@pytest.mark.parametrize(
    "cookie",
    [
        "",
        "cl_device_id=",
        "cl_device_id=7a1f8a2e-6a0b-4b8e-9a51-0d2f6f3f9c11",
        "other={own}",
        "xcl_device_id={own}",
    ],
)
async def test_without_the_visitors_own_cookie_none_is_set(visitor: Visitor, cookie: str) -> None:
    """Another site's page, a cookie of somebody else, or none since there is no consent: nothing is set."""
    assert await renewed(visitor, cookie.format(own=visitor.device_id)) is None


@pytest.mark.parametrize("label", ["x" * 64, ".", "a.", "-"])
async def test_a_host_that_is_no_name(visitor: Visitor, database: Database, label: str) -> None:
    """Under a wildcard an origin may come that no browser has: it is answered, for that host alone."""
    await origins.add_origin(database, "https://*.co.uk", visitor.organization.id, utc_now())
    cookie = await renewed(visitor, origin=f"https://{label}.co.uk")
    assert cookie is not None
    assert cookie["domain"] == ""


@pytest.mark.parametrize("cookie", ["=;=;", 'cl_device_id="', "a" * 4000, "\xff=\xfe", ";" * 500])
async def test_hostile_cookies(visitor: Visitor, cookie: str) -> None:
    """Whatever stands in the Cookie header, the batch is answered and no cookie set."""
    headers = [(b"cookie", cookie.encode("latin-1")), (b"origin", visitor.organization.origin.encode())]
    answer = await visitor.client.post(BATCH, json=visitor.envelope(conversion()), headers=headers)
    assert answer.status_code == 200
    assert "Set-Cookie" not in answer.headers


async def test_off_is_the_default(
    client: httpx.AsyncClient, database: Database, make_organization: OrganizationFactory
) -> None:
    """An organization that said nothing, or off, sets no cookie."""
    visitor = Visitor(client, await make_organization())
    assert await renewed(visitor) is None
    other = Visitor(client, await make_organization())
    await set_device_cookie(database, other.organization.id, False, None)
    assert await renewed(other) is None


async def test_a_refused_request_sets_nothing(visitor: Visitor) -> None:
    """Neither a wrong origin nor a wrong key nor a bad body renews anything."""
    cookie = {"Cookie": f"cl_device_id={visitor.device_id}"}
    for changes, headers in (
        ({}, {"Origin": "https://evil.example"}),
        ({"api_key": "c_web_wrong"}, {}),
        ({"calls": []}, {}),
    ):
        answer = await visitor.post(conversion(), headers=cookie | headers, **changes)
        assert answer.status_code >= 400
        assert "Set-Cookie" not in answer.headers
