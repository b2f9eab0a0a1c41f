"""Rule 9: a site that is not among the Allowed Web Origins gets a CORS error, and nothing of it is stored."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page

from tests.browser.real_service import RealService
from tests.browser.recording_server import RecordingServer
from tests.browser.shop_pages import CONVERSION


def pages_with(service: RealService, host: str) -> Callable[[], list[str]]:
    """Gives the pages on this host of which anything is stored."""
    collections = ("devices", "conversions", "leads", "events", "contacts")
    return lambda: [
        name for name in collections for document in service.stored(name) if host in repr(document)
    ]


def test_an_allowed_origin_is_served(
    page: Page, said: list[str], server: RecordingServer, service_of_shop: RealService
) -> None:
    """Must arrive and be answered: the check, whose attribution the page can read, and a conversion."""
    origin = server.url("", "allowed.localhost")
    service_of_shop.allow(origin)
    page.goto(f"{origin}/?utm_source=news")
    page.evaluate(service_of_shop.init())
    page.evaluate(CONVERSION)
    assert page.evaluate("Waylink.getAttribution()")["utm_source"] == "news"
    assert pages_with(service_of_shop, "allowed.localhost")().count("conversions") == 1
    assert said == []


def test_another_origin_is_refused(
    page: Page, said: list[str], server: RecordingServer, service_of_shop: RealService
) -> None:
    """Must not be stored: anything. The console names the CORS error, and the operator sees the origin."""
    host = "refused.localhost"
    page.goto(server.url("/?utm_source=news", host))
    page.evaluate(service_of_shop.init("debug: true"))
    page.evaluate(CONVERSION)
    assert page.evaluate("Waylink.getAttribution()") is None
    assert any("blocked by CORS policy" in text for text in said)
    assert any(text.startswith("Waylink offline") for text in said)
    assert pages_with(service_of_shop, host)() == []
    refused = service_of_shop.service.command("origin", "refused", "--org", service_of_shop.org_id)
    assert server.url("", host) in [row["origin"] for row in refused["refused"]]


def test_what_waited_arrives_once_the_origin_is_allowed(
    page: Page, server: RecordingServer, service_of_shop: RealService
) -> None:
    """Must arrive, once: what was tracked before somebody added the origin."""
    host = "late.localhost"
    page.goto(server.url("/", host))
    page.evaluate(service_of_shop.init())
    page.evaluate(CONVERSION)
    service_of_shop.allow(server.url("", host))
    page.wait_for_function("!Object.keys(localStorage).some(name => name.includes(':call_'))", polling=100)
    assert pages_with(service_of_shop, host)().count("conversions") == 1
