"""Consent is the visitor's, not a tab's: a decision in one tab of an origin is heard by the others."""

from __future__ import annotations

import threading

import pytest
from playwright.sync_api import Page

from tests.browser.recording_server import RecordingServer, acknowledge, once
from tests.browser.shop_pages import CONVERSION, device_cookie, stored, visit
from tests.polling import wait_for

REQUIRED = "consentMode: 'required'"
ERASING = "eraseOnWithdrawal: true"
DENIED = "!Waylink.hasConsent()"
SECURE = "localhost"  # where tabs that start at once can agree on one device


@pytest.fixture
def other(page: Page, server: RecordingServer) -> Page:
    """Another tab of the visitor, on the shop's other page; both have started."""
    visit(page, server, options=ERASING, host=SECURE)
    other = page.context.new_page()
    visit(other, server, "/other", ERASING, SECURE)
    return other


def test_a_withdrawal_is_heard(page: Page, other: Page, server: RecordingServer) -> None:
    """Must not arrive: a call of the other tab. Nothing is left in either, and the service is asked once."""
    page.evaluate("Waylink.denyConsent()")
    other.wait_for_function(DENIED)
    assert other.evaluate(f"{CONVERSION}.then((outcome) => outcome === undefined)")
    assert [stored(page), stored(other)] == [[], []]
    page.evaluate("Waylink.grantConsent(); Waylink.trackEvent('sentinel')")
    server.wait_for(4)
    assert sorted(server.kinds) == ["attribution", "attribution", "erase", "event"]


def test_what_another_tab_had_under_way_is_erased(page: Page, other: Page, server: RecordingServer) -> None:
    """What the service may store of the device after it was asked: it is asked again once that is over, and
    what had not been sent by then is neither kept nor sent."""
    device = device_cookie(page)["value"]
    denied = threading.Event()
    server.answer = once(denied, acknowledge)
    other.evaluate(f"window.call = {CONVERSION}, window.next = Waylink.trackEvent('a'); 0")
    server.wait_for_kinds("conversion")
    page.evaluate("Waylink.denyConsent()")
    other.wait_for_function(DENIED)
    denied.set()
    assert other.evaluate("next.then((outcome) => outcome === undefined)")
    wait_for(lambda: server.kinds, "not asked again", lambda kinds: kinds.count("erase") == 2)
    assert "event" not in server.kinds
    assert {request["batch"]["device_id"] for request in server.requests} == {device}
    assert stored(other) == []


def test_what_waits_for_consent_goes_with_a_refusal(page: Page, server: RecordingServer) -> None:
    """Must not arrive: what waited in another tab, once the visitor has withdrawn."""
    visit(page, server)
    waiting = page.context.new_page()
    visit(waiting, server, "/other", REQUIRED)
    waiting.evaluate(f"window.call = {CONVERSION}; 0")
    page.evaluate("Waylink.denyConsent()")
    assert waiting.evaluate("call.then((outcome) => outcome === undefined)")
    assert server.kinds == ["attribution"]


def test_a_grant_is_heard(page: Page, server: RecordingServer) -> None:
    """Must arrive: what waited in another tab, as of the same device; also after a withdrawal."""
    visit(page, server, options=REQUIRED, host=SECURE)
    waiting = page.context.new_page()
    visit(waiting, server, "/other", REQUIRED, SECURE)
    waiting.evaluate(f"window.call = {CONVERSION}; 0")
    page.evaluate("Waylink.grantConsent()")
    assert waiting.evaluate("call")["status"] == "accepted"
    server.wait_for(2)
    assert sorted(server.kinds) == ["attribution", "conversion"]
    assert len({request["batch"]["device_id"] for request in server.requests}) == 1
    page.evaluate("Waylink.denyConsent()")
    waiting.wait_for_function(DENIED)
    page.evaluate("Waylink.grantConsent()")
    waiting.wait_for_function("Waylink.hasConsent()")
    assert waiting.evaluate(CONVERSION)["status"] == "accepted"


@pytest.mark.parametrize(
    ("options", "before"), [(f"{REQUIRED}, apiKey: 'c_web_second'", "0"), (REQUIRED, "Waylink.denyConsent()")]
)
def test_a_grant_is_not_everybody_s(page: Page, server: RecordingServer, options: str, before: str) -> None:
    """Neither a page of another key nor one that was told 'no' itself takes it as its own."""
    visit(page, server, options=REQUIRED)
    other = page.context.new_page()
    visit(other, server, "/other", options)
    other.evaluate(before)
    other.evaluate("addEventListener('storage', (event) => { window.heard = event.newValue === null }); 0")
    page.evaluate("Waylink.grantConsent()")
    other.wait_for_function("window.heard")
    assert other.evaluate(DENIED)


def test_nothing_is_written_for_who_never_agreed(fresh_page: Page, server: RecordingServer) -> None:
    """A refusal on each page, as consent tools tell it, writes nothing: not even for a moment."""
    page = fresh_page
    page.add_init_script(
        "window.written = []; const own = Storage.prototype.setItem;"
        "Storage.prototype.setItem = function (...all) { written.push(all); own.apply(this, all) }"
    )
    visit(page, server, options=REQUIRED)
    page.evaluate("Waylink.denyConsent()")
    visit(page, server, "/later", REQUIRED)
    page.evaluate("Waylink.denyConsent()")
    assert page.evaluate("written") == []
