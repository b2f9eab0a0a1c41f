"""A known visitor stays known: many tabs at once, and reloads that never end."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.browser.recording_server import RecordingServer
from tests.browser.shop_pages import device_cookie, visit

STARTS = "<script>window.started = Waylink.init({apiKey: 'k'})</script>"
TABS = 4
RELOADS = 8


def open_tabs(page: Page, address: str, count: int) -> list[Page]:
    """This many tabs that load the page at the same time, each started."""
    tabs = [page.context.new_page() for _ in range(count)]
    for tab in tabs:
        tab.evaluate(f"setTimeout(() => {{ location.href = '{address}' }}); 0")
    for tab in tabs:
        tab.wait_for_url(address)
        tab.evaluate("started")
    return tabs


def test_tabs_of_a_known_visitor(page: Page, server: RecordingServer) -> None:
    """Tabs that open at once keep the cookie, and none is a new device."""
    visit(page, server)
    before = device_cookie(page)["value"]
    server.head = STARTS
    for tab in open_tabs(page, server.url("/later"), TABS):
        tab.close()
    assert device_cookie(page)["value"] == before
    assert server.kinds == ["attribution"]


def test_tabs_of_a_first_visit(page: Page, server: RecordingServer) -> None:
    """Tabs that open at once before anybody was known are one device, checked once."""
    server.head = STARTS
    tab, *_ = open_tabs(page, server.url("/", "localhost"), TABS)
    assert server.kinds == ["attribution"]
    assert server.requests[0]["batch"]["device_id"] == device_cookie(tab)["value"]


def test_a_storm_of_reloads(page: Page, server: RecordingServer) -> None:
    """Pages that are left while they start don't lose the cookie."""
    visit(page, server)
    before = device_cookie(page)["value"]
    server.head = STARTS
    for _ in range(RELOADS):
        page.goto(server.url("/later"), wait_until="commit")
    page.wait_for_function("window.started")
    page.evaluate("started")
    assert device_cookie(page)["value"] == before
    assert server.kinds == ["attribution"]
