"""A withdrawal of consent with `eraseOnWithdrawal`: the service erases what it has of the device."""

from __future__ import annotations

import threading

from playwright.sync_api import Page

from tests.browser.recording_server import RecordingServer, once, refuse
from tests.browser.shop_pages import CONVERSION, device_cookie, stored, visit
from tests.polling import wait_for

ERASING = "eraseOnWithdrawal: true"
REQUIRED = "consentMode: 'required'"


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
