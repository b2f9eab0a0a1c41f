"""The real service is stopped and started again while a visitor goes on: everything arrives, once."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page

from tests.browser.real_service import new_shop
from tests.browser.recording_server import RecordingServer
from tests.processes.service_process import free_port, own_database, service_process

QUEUED = "Object.keys(localStorage).filter(name => name.includes(':call_')).length"


def order(number: int) -> str:
    """A conversion of this order, awaited until its first attempt is over."""
    return f"Waylink.trackConversion({{revenue: {number}, currency: 'EUR', product_id: 'kite-{number}'}})"


def test_what_is_tracked_while_the_service_is_down_arrives_once(
    page: Page, server: RecordingServer, mongodb_uri: str, tmp_path: Path
) -> None:
    """Orders from before, during and after the outage are stored once each, with the touch from before."""
    port = str(free_port())
    site = server.url("", "shop.localhost")
    with (
        own_database(mongodb_uri) as own,
        service_process(tmp_path, **own, WAYLINK_PORT=port) as first,
    ):
        service = new_shop(first)
        service.allow(site)
        page.goto(f"{site}/?utm_source=news")
        page.evaluate(service.init())
        page.evaluate(order(1))
        assert first.stop() == 0

        page.evaluate(order(2))
        page.evaluate(order(3))
        page.goto(f"{site}/next")
        page.evaluate(service.init())
        page.evaluate(order(4))
        assert page.evaluate(QUEUED) == 3

        with service_process(tmp_path, **own, WAYLINK_PORT=port):
            page.wait_for_function(f"{QUEUED} === 0", timeout=120_000, polling=200)
            stored = service.stored("conversions")
    assert sorted(conversion["product_id"] for conversion in stored) == [
        "kite-1",
        "kite-2",
        "kite-3",
        "kite-4",
    ]
    assert {conversion["touch"]["utm"]["utm_source"] for conversion in stored} == {"news"}
