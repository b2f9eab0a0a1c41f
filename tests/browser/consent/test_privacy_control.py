"""The option `privacyControl`: the browser's signal withdraws consent, and a visitor's click lifts that."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.browser.recording_server import RecordingServer
from tests.browser.shop_pages import device_cookie, stored, visit
from tests.browser.visitor import Visitor, in_webkit

PART = '<script src="/waylink-privacy.js"></script>'
SIGNAL = "<script>Object.defineProperty(navigator, 'globalPrivacyControl', {value: true})</script>"
BUTTON = '<button id="agree" onclick="Waylink.grantConsent()">agree</button>'
REQUIRED = "consentMode: 'required'"
# What a consent tool does of its own. A call that Playwright makes counts as a click.
START = "<script>Waylink.init({apiKey: 'c_web_test', %s}); Waylink.grantConsent()</script>"
NOTHING_WAS_SENT = "Waylink.trackEvent('a').then((outcome) => outcome === undefined)"


def test_a_click_lifts_the_signal(page: Page, server: RecordingServer) -> None:
    """Nothing is stored or sent for a grant by a script; for one by a click it is, also on later pages by a
    script; until the visitor refuses."""
    server.head = SIGNAL + PART + BUTTON + START % REQUIRED
    page.goto(server.url("/?utm_source=news"))
    assert page.evaluate(NOTHING_WAS_SENT)
    assert (stored(page), server.requests) == ([], [])
    page.click("#agree")
    assert page.evaluate("Waylink.trackEvent('a')")["status"] == "accepted"
    device = device_cookie(page)["value"]
    page.goto(server.url("/later"))
    assert page.evaluate("Waylink.trackEvent('b')")["status"] == "accepted"
    assert {request["batch"]["device_id"] for request in server.requests} == {device}
    page.evaluate("Waylink.denyConsent()")
    assert page.evaluate("document.cookie.includes('cl_agreed')") is False
    sent = len(server.requests)
    page.goto(server.url("/again"))
    assert page.evaluate(NOTHING_WAS_SENT)
    assert len(server.requests) == sent


def test_a_refusal_in_another_tab(page: Page, server: RecordingServer) -> None:
    """The signal counts again in all tabs: a script of the tab that was clicked lifts nothing any more."""
    server.head = SIGNAL + PART + BUTTON + START % REQUIRED
    page.goto(server.url())
    page.click("#agree")
    other = page.context.new_page()
    other.goto(server.url("/other"))
    other.evaluate("Waylink.denyConsent()")
    page.wait_for_function("!Waylink.hasConsent()")
    page.evaluate("Object.defineProperty(navigator, 'userActivation', {value: {isActive: false}}); 0")
    page.evaluate("Waylink.grantConsent()")
    assert page.evaluate("Waylink.hasConsent()") is False


def test_what_was_stored_before_is_deleted(page: Page, server: RecordingServer) -> None:
    """A visitor who switches the signal on is forgotten by the next page."""
    visit(page, server, "/?utm_source=news")
    assert stored(page)
    server.head = SIGNAL + PART
    visit(page, server, "/later", "privacyControl: 'withdraw'")
    assert stored(page) == []
    assert not page.evaluate("Waylink.hasConsent()")


@in_webkit
def test_in_webkit(visitor: Visitor) -> None:
    """A click lifts the signal there, too, and a script does not. A Firefox that a test drives says of each
    page that it was clicked."""
    visitor.server.head = SIGNAL + PART + BUTTON + START % REQUIRED
    visitor.open()
    assert visitor.js("Waylink.hasConsent()") is False
    visitor.tab.click("#agree")
    assert visitor.js("Waylink.hasConsent()") is True


def test_without_user_activation(page: Page, server: RecordingServer) -> None:
    """A browser that can't tell a click from a script lifts nothing."""
    hidden = "<script>Object.defineProperty(navigator, 'userActivation', {value: undefined})</script>"
    server.head = SIGNAL + hidden + PART + BUTTON
    visit(page, server, options=REQUIRED)
    page.click("#agree")
    assert not page.evaluate("Waylink.hasConsent()")


@pytest.mark.parametrize(
    ("head", "options", "is_heeded"),
    [
        (SIGNAL + PART, "", False),
        (SIGNAL + PART, f"{REQUIRED}, privacyControl: 'ignore'", False),
        (SIGNAL + PART, "privacyControl: 'withdraw'", True),
        (SIGNAL + PART.replace("></", ' data-privacy-control="withdraw"></'), "", True),
        (PART, REQUIRED, False),
    ],
)
def test_where_it_is_heeded(
    page: Page, server: RecordingServer, head: str, options: str, *, is_heeded: bool
) -> None:
    """By default where consent is required, else by the option or by the tag; never without the signal."""
    server.head = head + START % options
    page.goto(server.url())
    assert page.evaluate("Waylink.hasConsent()") is not is_heeded


@pytest.mark.parametrize(
    ("head", "option"),
    [
        (PART, ", privacyControl: 'withdrawn'"),
        (PART.replace("></", ' data-privacy-control="Withdraw"></'), ""),
    ],
)
def test_a_wrong_choice_is_refused(page: Page, server: RecordingServer, head: str, option: str) -> None:
    """init rejects another value by the option's name, also one of the part's tag."""
    server.head = head
    page.goto(server.url())
    call = f"Waylink.init({{apiKey: 'k'{option}}}).catch((error) => error.message)"
    assert page.evaluate(call) == "Waylink: privacyControl"
