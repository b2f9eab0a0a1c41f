"""After `reset` the browser is another device, nobody's; what waited still goes out as the former one's."""

from __future__ import annotations

import threading
import uuid
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.calls.test_deleted_by_sites import DELETE, RETURN
from tests.browser.recording_server import Answer, RecordingServer, acknowledge, once, refuse
from tests.browser.shop_pages import INIT, STORE, device_cookie, visit
from tests.browser.visitor import SENTINEL, Visitor, beside_firefox, in_other_engines

IDENTIFY = "Waylink.identify({customer_id: 'c1'})"
REQUIRED = "consentMode: 'required'"
SECURE = "localhost"  # where tabs can hold a lock


def devices(server: RecordingServer) -> dict[str, str]:
    """The device that each call came from: an event by its name, any other call by its kind."""
    return {
        call.get("name") or call["kind"]: request["batch"]["device_id"]
        for request in server.requests
        for call in request["batch"]["calls"]
    }


def customers(server: RecordingServer) -> dict[str, str | None]:
    """The customer of each event, by the event's name."""
    return {call["name"]: call.get("customer_id") or None for call in server.calls if call["kind"] == "event"}


def event(name: str) -> str:
    """A call of this event that nobody waits for."""
    return f"void Waylink.trackEvent('{name}')"


def test_another_device_without_the_former_visit(visitor: Visitor) -> None:
    """In every engine: another cookie, no customer and no attribution, whatever the page's address says; and
    consent is as it was."""
    visitor.visit("/?cl_link_id=L1")
    visitor.js(IDENTIFY)
    visitor.js("Waylink.trackEvent('former')")
    assert visitor.js("Waylink.reset()") is None
    assert visitor.js("[Waylink.getAttribution(), Waylink.hasConsent()]") == [None, True]
    visitor.js("Waylink.trackEvent('after')")
    visitor.visit("/?cl_link_id=L1")
    visitor.js(SENTINEL)
    former, after, sentinel = (devices(visitor.server)[name] for name in ("former", "after", "sentinel"))
    assert former != after == sentinel
    assert customers(visitor.server) == {"former": "c1", "after": None, "sentinel": None}
    assert [call["signals"] for call in visitor.server.calls if call["kind"] == "attribution"] == [
        {"cl_link_id": "L1"},
        {},
    ]
    assert [cookie["value"] for cookie in visitor.tab.cookies()] == [after]


@pytest.mark.parametrize("options", ["", REQUIRED])
def test_calls_keep_their_place(page: Page, server: RecordingServer, options: str) -> None:
    """Before init, or before consent: what was called before the reset is the former device's, with its
    customer, and what was called after it the other's."""
    page.goto(server.url())
    page.evaluate(f"{IDENTIFY}; {event('a')}; Waylink.reset(); {event('b')}; Waylink.reset(); {event('c')}")
    page.evaluate(INIT.replace("{", f"{{{options + ',' if options else ''} "))
    page.evaluate("Waylink.grantConsent(); Waylink.trackEvent('sentinel')")
    found = devices(server)
    assert len({found["a"], found["b"], found["c"]}) == 3
    assert found["identify"] == found["a"]
    assert found["c"] == found["sentinel"] == device_cookie(page)["value"]
    assert customers(server) == {"a": "c1", "b": None, "c": None, "sentinel": None}


def test_what_waits_for_the_service_is_the_former_ones(page: Page, server: RecordingServer) -> None:
    """Must arrive from a later page, as its own: sales that failed before the reset, and after it."""
    visit(page, server)
    former = device_cookie(page)["value"]
    server.answer = refuse(503)
    page.evaluate("Waylink.trackConversion({revenue: 1, currency: 'EUR', transaction_id: 'failed'})")
    page.evaluate(f"localStorage.removeItem('{STORE}pause')")
    failing = threading.Event()
    server.answer = once(failing, refuse(503))
    page.evaluate(
        "window.sale = Waylink.trackConversion({revenue: 1, currency: 'EUR', transaction_id: 'failing'}); 0"
    )
    server.wait_for(3)
    page.evaluate("Waylink.reset()")
    failing.set()
    assert page.evaluate("sale") == {"status": "waiting"}
    server.answer = acknowledge
    server.requests.clear()
    page.evaluate(f"localStorage.removeItem('{STORE}pause')")
    visit(page, server, "/later")
    assert page.evaluate("Waylink.flush()") == 0
    sales = {
        call["transaction_id"]: request["batch"]["device_id"]
        for request in server.requests
        for call in request["batch"]["calls"]
        if call["kind"] == "conversion"
    }
    assert sales == {"failed": former, "failing": former}


def test_a_refusal_after_it_drops_what_waits(page: Page, server: RecordingServer) -> None:
    """Must not arrive: calls before and after a reset, when the visitor refuses. Their promises end."""
    page.goto(server.url())
    page.evaluate(f"{INIT.replace('{', '{' + REQUIRED + ', ')}; 0")
    page.evaluate("window.calls = [Waylink.trackEvent('a'), Waylink.reset(), Waylink.trackEvent('b')]; 0")
    page.evaluate("Waylink.denyConsent()")
    assert page.evaluate("Promise.all(calls).then((all) => all.every((outcome) => outcome === undefined))")
    assert page.evaluate("Waylink.reset(), document.cookie") == ""
    assert server.requests == []


def test_a_late_answer_of_the_former_visit(page: Page, server: RecordingServer) -> None:
    """An answer to the former device neither credits the other one nor brings the cookie back."""
    visit(page, server, host=SECURE)
    former = device_cookie(page)["value"]
    reset = threading.Event()

    def cookie_and_attribution(batch: dict[str, Any]) -> Answer:
        status, headers, body = acknowledge(batch)
        return status, headers | {"Set-Cookie": f"cl_device_id={former}; Path=/; Max-Age=999"}, body

    server.answer = once(reset, cookie_and_attribution)
    page.evaluate(
        "history.pushState(null, '', '/?cl_link_id=L1'); window.call = Waylink.trackEvent('former'); 0"
    )
    server.wait_for(2)
    server.answer = acknowledge
    page.evaluate("Waylink.reset(); 0")
    other = device_cookie(page)["value"]
    reset.set()
    page.evaluate("call.then(() => Waylink.trackEvent('after'))")
    assert page.evaluate("Waylink.getAttribution()") is None
    assert devices(server)["after"] == other == device_cookie(page)["value"] != former


def test_a_page_that_is_left_before_consent(visitor: Visitor) -> None:
    """In every engine: the log-out holds on the next page, which finds nobody, and nothing is sent for it."""
    visitor.visit()
    visitor.js(IDENTIFY)
    visitor.js("Waylink.trackEvent('former')")
    visitor.open("/logout")
    visitor.js(f"void {INIT.replace('{', '{' + REQUIRED + ', ')}; Waylink.reset()")
    sent = len(visitor.server.requests)
    visitor.open("/login")
    assert (visitor.tab.cookies(), len(visitor.server.requests)) == ([], sent)
    visitor.js(INIT)
    visitor.js("Waylink.trackEvent('after')")
    found = devices(visitor.server)
    assert found["former"] != found["after"]
    assert customers(visitor.server) == {"former": "c1", "after": None}


def test_a_page_that_is_hidden_before_consent(page: Page, server: RecordingServer) -> None:
    """It is not left yet: what was called before the log-out is still the former device's."""
    visit(page, server)
    former = device_cookie(page)["value"]
    page.goto(server.url("/logout"))
    page.evaluate(f"void {INIT.replace('{', '{' + REQUIRED + ', ')}; {event('before')}; Waylink.reset()")
    page.evaluate("dispatchEvent(new Event('visibilitychange')); Waylink.grantConsent()")
    page.evaluate("Waylink.trackEvent('after')")
    found = devices(server)
    assert found["before"] == former != found["after"]


@in_other_engines
def test_without_cookies(visitor: Visitor) -> None:
    """Where the browser refuses cookies, the tab is another device all the same."""
    visitor.open()
    visitor.js("void Object.defineProperty(document, 'cookie', {get: () => '', set: () => 0})")
    visitor.js(INIT)
    visitor.js("Waylink.trackEvent('former')")
    visitor.js("Waylink.reset()")
    visitor.js("Waylink.trackEvent('after')")
    found = devices(visitor.server)
    assert found["former"] != found["after"]


@pytest.fixture
def other(page: Page, server: RecordingServer) -> Page:
    """Another tab of the visitor, who is a customer there; both have started."""
    visit(page, server, host=SECURE)
    other = page.context.new_page()
    visit(other, server, "/other?cl_link_id=L2", host=SECURE)
    other.evaluate(f"{IDENTIFY}; {event('former')}")
    server.wait_for(4)
    return other


def test_other_tabs_hear_of_it(page: Page, other: Page, server: RecordingServer) -> None:
    """The other tab goes on as the new device, without customer and attribution, also after a reload."""
    page.evaluate("Waylink.reset()")
    other.wait_for_function("!Waylink.getAttribution()")
    other.evaluate("Waylink.trackEvent('heard')")
    visit(other, server, "/other?cl_link_id=L2", host=SECURE)
    other.evaluate("Waylink.trackEvent('reloaded')")
    page.evaluate("Waylink.trackEvent('here')")
    found = devices(server)
    assert found["former"] != found["heard"] == found["reloaded"] == found["here"]
    assert customers(server) == {"former": "c1", "heard": None, "reloaded": None, "here": None}
    assert [call["signals"] for call in server.calls if call["kind"] == "attribution"].count(
        {"cl_link_id": "L2"}
    ) == 1


def test_a_tab_that_heard_nothing(page: Page, other: Page, server: RecordingServer) -> None:
    """A tab that showed another site meanwhile forgets the former customer on its next page here."""
    other.goto(server.url("/elsewhere", "other.test"))
    page.evaluate("Waylink.reset()")
    visit(other, server, "/back", host=SECURE)
    other.evaluate("Waylink.trackEvent('back')")
    assert other.evaluate("Waylink.getAttribution()") is None
    assert devices(server)["back"] == device_cookie(page)["value"] != devices(server)["former"]
    assert customers(server)["back"] is None


@beside_firefox
def test_a_page_kept_for_back(visitor: Visitor) -> None:
    """A page that comes back finds the device that another tab made: it goes on as that one, without the
    former's customer and attribution, and its address is not credited again."""
    visitor.visit("/?cl_link_id=L1")
    visitor.js(IDENTIFY)
    visitor.js("Waylink.trackEvent('former')")
    other = str(uuid.uuid4())
    visitor.js(DELETE)
    visitor.js(f"void (document.cookie = 'cl_device_id={other}; path=/')")
    visitor.js(RETURN)
    assert visitor.js("Waylink.getAttribution()") is None
    visitor.js(SENTINEL)
    assert devices(visitor.server)["sentinel"] == other
    assert customers(visitor.server) == {"former": "c1", "sentinel": None}
    signals = [call["signals"] for call in visitor.server.calls if call["kind"] == "attribution"]
    assert signals == [{"cl_link_id": "L1"}, {}]
