"""Pages of the test's shop, and what a visitor does on them."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.browser.recording_server import RecordingServer

INIT = "Waylink.init({apiKey: 'c_web_test'})"
CONVERSION = "Waylink.trackConversion({revenue: 1, currency: 'EUR'})"


def visit(
    page: Page, server: RecordingServer, path: str = "/", options: str = "", host: str = "shop.test"
) -> None:
    """Open a page, and wait until the SDK has started with these further options."""
    page.goto(server.url(path, host))
    page.evaluate(f"Waylink.init({{apiKey: 'c_web_test', {options}}})")


def stored(page: Page) -> list[str]:
    """Every name that the SDK has stored on this page's site, cookies included."""
    return list(
        page.evaluate(
            "[...Object.keys(localStorage), ...Object.keys(sessionStorage),"
            "...document.cookie.match(/cl_[a-z_]+/g) || []]"
        )
    )
