"""`flush` sends what waits, and says how many calls still wait once that was answered."""

from __future__ import annotations

import threading

from playwright.sync_api import Page

from tests.browser.recording_server import RecordingServer, acknowledge, once, refuse
from tests.browser.shop_pages import INIT, STORE, visit
from tests.browser.visitor import INIT as INIT_OF_VISITOR
from tests.browser.visitor import Visitor

TEN_EVENTS = "for (let number = 0; number < 10; number++) void Waylink.trackEvent('a');"


def test_what_was_called_is_answered(visitor: Visitor) -> None:
    """In every engine, also in the task of init: nothing waits any more."""
    visitor.open()
    left = visitor.js(f"(() => {{ void {INIT_OF_VISITOR}; {TEN_EVENTS} return Waylink.flush() }})()")
    assert left == 0
    assert visitor.server.kinds == ["attribution", *["event"] * 10]
    assert visitor.js("Waylink.flush()") == 0


def test_it_waits_for_the_answer(page: Page, server: RecordingServer) -> None:
    """It is open while the request of a call is, and while that of another one follows."""
    visit(page, server)
    answered = threading.Event()
    server.answer = once(answered, acknowledge)
    page.evaluate(
        "void Waylink.trackEvent('a'); window.left = Waylink.flush().then((left) => window.done = left); 0"
    )
    server.wait_for(2)
    assert page.evaluate("window.done === undefined")
    answered.set()
    assert page.evaluate("left") == 0


def test_what_is_left_is_counted(page: Page, server: RecordingServer) -> None:
    """What fails, what a pause of the service holds back, and what waits for init or consent; a lost
    connection is no reason to wait."""
    page.goto(server.url())
    page.evaluate("void Waylink.trackEvent('a'); 0")
    assert page.evaluate("Waylink.flush()") == 1
    page.evaluate(INIT.replace("{", "{consentMode: 'required', "))
    assert page.evaluate("Waylink.flush()") == 1
    assert server.requests == []
    page.evaluate("Waylink.grantConsent()")
    assert page.evaluate("Waylink.flush()") == 0
    server.answer = refuse(503, Retry_After="600")
    page.evaluate("void Waylink.trackEvent('b'); 0")
    assert page.evaluate("Waylink.flush()") == 1
    server.answer = acknowledge
    assert page.evaluate("Waylink.flush()") == 1
    page.evaluate(f"localStorage.removeItem('{STORE}pause'); 0")
    assert page.evaluate("Waylink.flush()") == 0
    page.evaluate("window.own = fetch; window.fetch = () => Promise.reject(new TypeError()); 0")
    page.evaluate("Waylink.trackEvent('c')")
    assert page.evaluate("Waylink.flush()") == 1
    page.evaluate("window.fetch = own; 0")
    assert page.evaluate("Waylink.flush()") == 0
    assert [call["name"] for call in server.calls if call["kind"] == "event"][-1] == "c"


def test_after_a_refusal_nothing_waits(page: Page, server: RecordingServer) -> None:
    """It resolves with 0 where the visitor has refused, and sends nothing."""
    visit(page, server, options="consentMode: 'required'")
    page.evaluate("void Waylink.trackEvent('a'); Waylink.denyConsent(); 0")
    assert page.evaluate("Waylink.flush()") == 0
    assert server.requests == []
