"""Pages of the test's shop, and what a visitor does on them."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

from tests.browser.recording_server import RecordingServer

INIT = "Waylink.init({apiKey: 'c_web_test'})"
CONVERSION = "Waylink.trackConversion({revenue: 1, currency: 'EUR'})"
# What the SDK's names in storage begin with on a page of the test's key.
STORE = "waylink:c_web_test:"
# The milliseconds for which nothing is sent; the page stores when the pause began, and how long it is.
PAUSE_LEFT = """Object.entries(localStorage).find(([name]) => name.endsWith(':pause'))[1] - Date.now()"""


# The names that say that the visitor has withdrawn consent, and nothing else.
WITHDRAWN = ("waylink:", "cl_withdrawn")


def visit(page: Page, server: RecordingServer, path: str = "/", options: str = "", host: str = "") -> None:
    """Open a page, and wait until the SDK has started with these further options."""
    page.goto(server.url(path, host))
    page.evaluate(f"Waylink.init({{apiKey: 'c_web_test', {options}}})")


def stored(page: Page) -> list[str]:
    """Every name that the SDK has stored of the visitor on this page's site, cookies included."""
    names: list[str] = page.evaluate(
        "[...Object.keys(localStorage), ...Object.keys(sessionStorage),"
        "...document.cookie.match(/cl_[a-z_]+/g) || []]"
    )
    return [name for name in names if name not in WITHDRAWN]


def device_cookie(page: Page) -> dict[str, Any]:
    """The device cookie as the browser keeps it."""
    return next(
        dict(cookie) for cookie in page.context.cookies(page.url) if cookie.get("name") == "cl_device_id"
    )


def expect_sent(page: Page, server: RecordingServer, *kinds: str) -> None:
    """Calls of these kinds have arrived and no other: an event sent now comes right after them."""
    page.evaluate("Waylink.trackEvent('sentinel')")
    server.wait_for(len(kinds) + 1)
    assert server.kinds == [*kinds, "event"]
    assert server.calls[-1]["name"] == "sentinel"
