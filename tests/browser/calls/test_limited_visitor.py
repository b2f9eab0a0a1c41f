"""A visitor whose address sent too much: the SDK keeps what it has to say, and waits."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.browser.real_service import new_shop
from tests.browser.recording_server import RecordingServer
from tests.browser.shop_pages import CONVERSION, PAUSE_LEFT
from tests.conftest import ServiceStarter
from tests.polling import wait_for


def test_the_sdk_waits_as_long_as_the_service_asks(
    page: Page, server: RecordingServer, start_service: ServiceStarter
) -> None:
    """After a 429 of the real service the call stays in the browser, with the pause of `Retry-After`, longer
    than the SDK's own; nothing of it is stored, and the owner sees that it was refused."""
    with start_service(WAYLINK_ADDRESS_CALL_LIMIT="1") as service:
        shop = new_shop(service)
        shop.allow(server.url("", "limited.localhost"))
        page.goto(server.url("/?utm_source=news", "limited.localhost"))
        page.evaluate(shop.init())
        page.evaluate(CONVERSION)
        assert page.evaluate("Waylink.getAttribution()")["utm_source"] == "news"
        wait = page.evaluate(PAUSE_LEFT)
        assert 2_000 < wait <= 60_000
        kept = page.evaluate("Object.keys(localStorage).filter(name => name.includes(':call_')).length")
        assert kept == 1
        assert shop.stored("conversions") == []
        refused = wait_for(
            lambda: service.command("limit", "refused", "--org", shop.org_id)["refused"], "not told"
        )
        assert [(row["limit"], row["requests"]) for row in refused] == [("calls_of_address", 1)]
