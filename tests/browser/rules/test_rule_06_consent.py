"""Rule 6: with consent required, nothing is stored or sent before grantConsent; denyConsent discards."""

from __future__ import annotations

import threading

from playwright.sync_api import Page

from tests.browser.recording_server import RecordingServer, once, refuse
from tests.browser.shop_pages import CONVERSION, stored, visit

REQUIRED = "consentMode: 'required'"


def test_nothing_before_consent(page: Page, server: RecordingServer) -> None:
    """Before consent there is no request, no cookie, no storage; grantConsent flushes in order."""
    visit(page, server, "/?utm_source=news", REQUIRED)
    page.evaluate(f"{CONVERSION}; Waylink.trackEvent('a'); 0")
    assert (server.requests, stored(page), page.evaluate("Waylink.hasConsent()")) == ([], [], False)
    page.evaluate("Waylink.grantConsent()")
    server.wait_for(3)
    assert server.kinds == ["attribution", "conversion", "event"]
    assert server.calls[0]["signals"] == {"utm_source": "news"}
    assert page.evaluate("Waylink.hasConsent()")


def test_the_landing_page_is_remembered_while_waiting(page: Page, server: RecordingServer) -> None:
    """A route change before consent does not lose the signals of the address that the visitor came to."""
    visit(page, server, "/?utm_source=news", REQUIRED)
    page.evaluate("history.pushState(null, '', '/plain'); Waylink.grantConsent()")
    assert server.wait_for(1)[0]["signals"] == {"utm_source": "news"}


def test_consent_before_init(page: Page, server: RecordingServer) -> None:
    """grantConsent before init counts."""
    page.goto(server.url())
    page.evaluate("Waylink.grantConsent(); Waylink.init({apiKey: 'k', consentMode: 'required'})")
    server.wait_for(1)
    assert server.kinds == ["attribution"]


def test_denial_discards(page: Page, server: RecordingServer) -> None:
    """Calls that denyConsent discards resolve with undefined, and only calls after a later grant arrive."""
    visit(page, server, options=REQUIRED)
    waiting = "Promise.all([call, Waylink.trackLead()])"
    assert page.evaluate(f"const call = {CONVERSION}; Waylink.denyConsent(); {waiting}") == [None, None]
    page.evaluate("Waylink.grantConsent(); Waylink.trackEvent('sentinel')")
    server.wait_for(2)
    assert server.kinds == ["attribution", "event"]


def test_withdrawal_deletes_and_stops(page: Page, server: RecordingServer) -> None:
    """denyConsent after grantConsent deletes the cookie and all storage; later calls are not sent."""
    visit(page, server, options=REQUIRED, host=f"www.{server.host}")
    page.evaluate("Waylink.grantConsent(); Waylink.identify({customer_id: 'c'})")
    server.wait_for(2)
    first = server.requests[0]["batch"]["device_id"]
    page.evaluate(f"Waylink.denyConsent(); {CONVERSION}")
    assert (stored(page), page.evaluate("Waylink.getAttribution()")) == ([], None)
    page.evaluate("Waylink.grantConsent(); Waylink.trackEvent('sentinel')")
    server.wait_for(4)
    assert server.kinds == ["attribution", "identify", "attribution", "event"]
    assert server.requests[-1]["batch"]["device_id"] != first
    assert not server.calls[-1]["customer_id"]


def test_denial_on_a_later_page_deletes_too(page: Page, server: RecordingServer) -> None:
    """What an earlier page stored goes when a later page denies, before or after init."""
    visit(page, server)
    page.goto(server.url("/later"))
    page.evaluate("Waylink.denyConsent(); Waylink.init({apiKey: 'k', consentMode: 'required'})")
    assert stored(page) == []


def test_a_withdrawal_while_a_request_is_under_way(page: Page, server: RecordingServer) -> None:
    """An answer, or its failure, that comes after the withdrawal stores nothing."""
    visit(page, server)
    denied = threading.Event()
    server.answer = once(denied, refuse(503))
    page.evaluate(f"window.call = {CONVERSION}; 0")
    server.wait_for(2)
    page.evaluate("Waylink.denyConsent()")
    denied.set()
    page.evaluate("call")
    assert stored(page) == []


def test_a_withdrawal_in_the_task_of_a_call(page: Page, server: RecordingServer) -> None:
    """Must not arrive: a call whose consent is withdrawn before its request begins."""
    visit(page, server)
    page.evaluate(f"{{ const call = {CONVERSION}; Waylink.denyConsent(); call }}")
    page.evaluate("Waylink.grantConsent(); Waylink.trackEvent('a')")
    server.wait_for_kinds("event")
    assert "conversion" not in server.kinds
    page.evaluate("Waylink.denyConsent()")
    assert stored(page) == []
