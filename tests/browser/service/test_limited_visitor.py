"""A visitor whose address sent too much: the SDK keeps what it has to say, and waits."""

from __future__ import annotations

import uuid

import httpx
from playwright.sync_api import Page

from tests.browser.real_service import RealService
from tests.browser.recording_server import RecordingServer
from tests.browser.service.conftest import ADDRESS_CALLS
from tests.browser.shop_pages import CONVERSION, PAUSE_LEFT
from tests.facts.sdk_batches import BATCH, conversion, timestamp
from tests.polling import wait_for


def send_too_much(shop: RealService, origin: str) -> None:
    """As somebody else at the page's address, send what an address may send, until it is refused."""
    envelope = {"api_key": shop.web_key, "device_id": str(uuid.uuid4()), "sdk": "t", "sent_at": timestamp()}
    for _ in range(ADDRESS_CALLS // 50 + 1):
        batch = envelope | {"calls": [conversion() for _ in range(50)]}
        answer = httpx.post(shop.base_url + BATCH, json=batch, headers={"Origin": origin}, timeout=60)
    assert answer.status_code == 429


def test_the_sdk_waits_as_long_as_the_service_asks(
    page: Page, server: RecordingServer, service_of_shop: RealService
) -> None:
    """After a 429 of the real service the call stays in the browser, with the pause of `Retry-After`, longer
    than the SDK's own; nothing of it is stored, and the owner sees that it was refused."""
    shop, origin = service_of_shop, server.url("", "limited.localhost")
    shop.allow(origin)
    page.goto(f"{origin}/?utm_source=news")
    page.evaluate(shop.init())
    send_too_much(shop, origin)
    page.evaluate(CONVERSION)
    assert page.evaluate("Waylink.getAttribution()")["utm_source"] == "news"
    wait = page.evaluate(PAUSE_LEFT)
    assert 2_000 < wait <= 60_000
    kept = page.evaluate("Object.keys(localStorage).filter(name => name.includes(':call_')).length")
    assert kept == 1
    assert not [sale for sale in shop.stored("conversions") if origin in str(sale.get("page"))]
    refused = wait_for(
        lambda: [
            row
            for row in shop.service.command("limit", "refused", "--org", shop.org_id)["refused"]
            if row["requests"] == 2
        ],
        "not told",
    )
    assert [row["limit"] for row in refused] == ["calls_of_address"]
