"""A page of a shop that a test writes, as a browser gets it from the server that takes the calls."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page

from tests.browser.recording_server import RecordingServer

INTEGRATIONS = Path(__file__).parents[2] / "integrations"
PLATFORMS = Path(__file__).parent / "platforms"
HOST = "localhost"  # of other hosts, Chromium lets no page that a test answers load anything
# Where the reader's service is, in the files of integrations/.
SERVICE = "https://links.example.com"
KEY = "c_web_test"


def open_page(page: Page, server: RecordingServer, html: str) -> None:
    """Open a page with this content in its head."""
    content = f'<!doctype html><title>Shop</title><link rel="icon" href="data:,">{html}'
    page.unroute_all()
    page.route("**/shop/*", lambda route: route.fulfill(body=content, content_type="text/html"))
    page.goto(server.url("/shop/?utm_source=mail", HOST))


def platform(name: str, former: str | None = None) -> str:
    """A tag with a script of platforms/, for somebody who has given this answer on an earlier page."""
    script = (PLATFORMS / f"{name}.js").read_text()
    return f"<script>{script}\nplatform.load({f'{former!r}' if former else ''});</script>"
