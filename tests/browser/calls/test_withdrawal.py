"""A withdrawal of consent with `eraseOnWithdrawal`: the service erases what it has of the device."""

from __future__ import annotations

import threading

from playwright.sync_api import Page

from tests.browser.real_service import RealService, new_shop
from tests.browser.recording_server import RecordingServer, once, refuse
from tests.browser.shop_pages import CONVERSION, device_cookie, stored, visit
from tests.browser.visitor import Visitor, in_chromium
from tests.polling import wait_for

ERASING = "eraseOnWithdrawal: true"
REQUIRED = "consentMode: 'required'"
STORED = "[document.cookie, ...Object.keys(localStorage), ...Object.keys(sessionStorage)].join()"


def records_of(shop: RealService, device_id: str) -> list[str]:
    """The collections in which the service has something of a device."""
    return [name for name in ("devices", "conversions") if shop.service.stored(name, device_id=device_id)]


@in_chromium
def test_what_the_service_has_of_the_device_goes(visitor: Visitor, service_of_shop: RealService) -> None:
    """Granted, used, withdrawn, on the real service: the records are gone there, and in the browser."""
    shop = new_shop(service_of_shop.service)
    shop.allow(visitor.url(""))
    shop.service.command("privacy", "withdrawal", "--org", shop.org_id, "--erase", "on")
    visitor.open("/?utm_source=news")
    visitor.js(shop.init(f"{REQUIRED}, {ERASING}"))
    visitor.js("Waylink.grantConsent()")
    visitor.js(CONVERSION)
    (device,) = [cookie["value"] for cookie in visitor.tab.cookies() if cookie["name"] == "cl_device_id"]
    assert records_of(shop, device) == ["devices", "conversions"]
    visitor.js("Waylink.denyConsent()")
    assert visitor.js(STORED) == ""
    wait_for(lambda: records_of(shop, device), "not erased", lambda found: found == [])


def test_it_is_asked_once(page: Page, server: RecordingServer) -> None:
    """The request names the device and has no calls; a second refusal, also on a later page, asks no more."""
    visit(page, server, options=ERASING)
    device = device_cookie(page)["value"]
    page.evaluate("Waylink.denyConsent(); Waylink.denyConsent()")
    server.wait_for_kinds("erase")
    page.goto(server.url("/later"))
    page.evaluate(f"Waylink.denyConsent(); Waylink.init({{apiKey: 'k', {ERASING}}})")
    page.evaluate("Waylink.grantConsent(); Waylink.trackEvent('sentinel')")
    server.wait_for_kinds("event")
    assert server.kinds == ["attribution", "erase", "attribution", "event"]
    batch = server.requests[1]["batch"]
    assert (batch["device_id"], batch["erase"], batch["api_key"]) == (device, True, "c_web_test")
    assert "calls" not in batch


def test_a_later_page_withdraws(page: Page, server: RecordingServer) -> None:
    """Where an earlier page had consent, its cookie says for which device to ask, before init too."""
    visit(page, server)
    device = device_cookie(page)["value"]
    page.goto(server.url("/later"))
    page.evaluate(f"Waylink.denyConsent(); Waylink.init({{apiKey: 'k', {REQUIRED}, {ERASING}}})")
    server.wait_for_kinds("erase")
    assert server.requests[-1]["batch"]["device_id"] == device
    assert stored(page) == []


def test_nothing_is_asked_without_need(page: Page, server: RecordingServer) -> None:
    """No request without the option, nor for a visitor who never agreed."""
    visit(page, server)
    page.evaluate("Waylink.denyConsent()")
    visit(page, server, options=f"{REQUIRED}, {ERASING}")
    page.evaluate("Waylink.denyConsent(); Waylink.grantConsent(); Waylink.trackEvent('sentinel')")
    server.wait_for_kinds("event")
    assert server.kinds == ["attribution", "attribution", "event"]


def test_what_was_under_way_is_erased_too(page: Page, server: RecordingServer) -> None:
    """A call that the service may have stored after it was asked: it is asked again once that is over."""
    visit(page, server, options=ERASING)
    device = device_cookie(page)["value"]
    denied = threading.Event()
    server.answer = once(denied, refuse(503))
    page.evaluate(f"window.call = {CONVERSION}; 0")
    server.wait_for_kinds("conversion")
    page.evaluate("Waylink.denyConsent()")
    denied.set()
    wait_for(lambda: server.kinds, "not asked again", lambda kinds: kinds.count("erase") == 2)
    assert {request["batch"]["device_id"] for request in server.requests} == {device}
    assert stored(page) == []


def test_a_switch_that_is_off_is_told(
    page: Page, said: list[str], faults: list[str], server: RecordingServer, service_of_shop: RealService
) -> None:
    """Where the organization has not switched it on, one warning says so and names the command; an answer
    that does not come is no error of the page."""
    shop = new_shop(service_of_shop.service)
    shop.allow(server.url("", "off.localhost"))
    page.goto(server.url("/", "off.localhost"))
    page.evaluate(shop.init(ERASING))
    with page.expect_console_message(lambda message: message.type == "warning") as told:
        page.evaluate("Waylink.denyConsent()")
    notes = told.value.args[2].json_value()["notes"]
    assert "waylink privacy withdrawal" in str(notes)
    page.evaluate("Waylink.grantConsent()")
    page.context.set_offline(True)
    page.evaluate("Waylink.denyConsent()")
    page.evaluate("fetch('/').catch(() => 0)")  # fails after it
    assert len([text for text in said if text.startswith("Waylink")]) == 1
    assert faults == []
