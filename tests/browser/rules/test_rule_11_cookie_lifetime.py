"""Rule 11: the device cookie is asked for 400 days; Safari keeps it about 7, and a later visit is organic."""

from __future__ import annotations

import time
from pathlib import Path

from playwright.sync_api import Page

from tests.browser.recording_server import RecordingServer
from tests.browser.shop_pages import INIT, device_cookie, expect_sent, visit

DAY = 24 * 60 * 60
DOCS = Path(__file__).parents[3] / "docs" / "sdk.md"
RECORD_COOKIES = """
window.asked = [];
const own = Object.getOwnPropertyDescriptor(Document.prototype, 'cookie');
Object.defineProperty(document, 'cookie', {
  get: () => own.get.call(document),
  set: (text) => { asked.push(text); own.set.call(document, text) },
});
0"""


def test_400_days_are_asked_for(page: Page, server: RecordingServer) -> None:
    """The text that the script sets has Max-Age 400 days, Path=/ and SameSite=Lax, and no Secure on http."""
    page.goto(server.url())
    page.evaluate(RECORD_COOKIES)
    page.evaluate(INIT)
    device = server.requests[0]["batch"]["device_id"]
    assert page.evaluate("asked.at(-1)").split("; ") == [
        f"cl_device_id={device}",
        f"max-age={400 * DAY}",
        "path=/",
        "samesite=lax",
        f"domain={server.host}",
    ]


def test_the_browser_keeps_one_cookie_for_every_subdomain(page: Page, server: RecordingServer) -> None:
    """The same id on every page of every subdomain, for 400 days, under one name."""
    visit(page, server, host=f"www.{server.host}")
    cookie = device_cookie(page)
    assert (cookie["domain"], cookie["path"], cookie["sameSite"]) == (f".{server.host}", "/", "Lax")
    assert 399 * DAY < cookie["expires"] - time.time() <= 400 * DAY
    visit(page, server, host=f"app.{server.host}")
    assert device_cookie(page)["value"] == cookie["value"] == server.requests[0]["batch"]["device_id"]
    own = [each for each in page.context.cookies() if each["domain"].endswith(server.host)]
    assert [each["name"] for each in own] == ["cl_device_id"]


def test_each_page_asks_for_400_days_anew(page: Page, server: RecordingServer) -> None:
    """A cookie that is about to end is renewed with its id, and the visit sends nothing."""
    visit(page, server)
    cookie = device_cookie(page)
    ending = {name: cookie[name] for name in ("name", "value", "domain", "path")}
    page.context.add_cookies([{**ending, "expires": time.time() + 60}])  # type: ignore[typeddict-item]
    visit(page, server, "/later")
    renewed = device_cookie(page)
    assert renewed["value"] == cookie["value"]
    assert renewed["expires"] - time.time() > 399 * DAY
    expect_sent(page, server, "attribution")


def test_a_visit_beyond_the_cap_is_organic(page: Page, server: RecordingServer) -> None:
    """Must arrive, once the cookie is gone: a check of a new device without signals, and no attribution."""
    visit(page, server, "/?utm_source=news")
    page.context.clear_cookies()
    tab = page.context.new_page()
    visit(tab, server)
    assert tab.evaluate("Waylink.getAttribution()") is None
    expect_sent(tab, server, "attribution", "attribution")
    assert server.calls[1]["signals"] == {}
    assert len({request["batch"]["device_id"] for request in server.requests}) == 2


def test_the_docs_tell_of_safaris_cap() -> None:
    """The page for site owners says how long the cookie lasts, there and elsewhere."""
    assert "400 days; about 7 in Safari" in DOCS.read_text()
