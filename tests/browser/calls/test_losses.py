"""No call is lost in silence: what is dropped is told and counted, and all else waits for the next page."""

from __future__ import annotations

import threading

from playwright.sync_api import Page

from tests.browser.calls.test_bounds import AT, LEAVE
from tests.browser.recording_server import RecordingServer, acknowledge, once, refuse
from tests.browser.shop_pages import CONVERSION, INIT
from tests.browser.visitor import SENTINEL, Visitor, in_chromium
from tests.polling import wait_for

EVENTS = "for (let i = 0; i < {count}; i++) Waylink.trackEvent('e' + i)"
# How many entries are stored, and how many of them a page that comes now would have to wait for.
LEASES = """(() => {
  const names = Object.keys(localStorage).filter((name) => name.includes(':call_'));
  const leased = names.filter((name) => JSON.parse(localStorage[name]).until > Date.now());
  return [names.length, leased.length];
})()"""


def test_the_sale_goes_first_and_nothing_stays_leased(visitor: Visitor) -> None:
    """Left with a sale and 45 events behind an answer that does not come, the page sends the sale before all
    others, and the next page may send what has no answer at once."""
    answered = threading.Event()
    visitor.visit()
    visitor.server.answer = once(answered, acknowledge)
    visitor.js("void Waylink.trackEvent('first')")
    visitor.server.wait_for(2)
    visitor.js(f"void (() => {{ {EVENTS.format(count=10)}; {CONVERSION}; {EVENTS.format(count=35)} }})()")
    visitor.js("void dispatchEvent(new Event('pagehide'))")
    visitor.server.wait_for(48)
    # Requests that are sent at once may arrive in any order.
    batches = [request["batch"] for request in visitor.server.requests[2:]]
    first = min(batches, key=lambda batch: batch["sent_at"])
    assert first["calls"][0]["kind"] == "conversion"
    assert visitor.js(LEASES) == [47, 0]
    visitor.open("/next")
    assert visitor.js(LEASES)[1] == 0
    answered.set()


def test_what_is_in_flight_is_sent_again_by_the_next_page(visitor: Visitor) -> None:
    """Must arrive without waiting for a lease to end: a sale whose request the visitor's leaving ended."""
    answered = threading.Event()
    visitor.visit()
    visitor.server.answer = once(answered, refuse(503))
    visitor.js(f"void {CONVERSION}")
    visitor.server.wait_for(2)
    visitor.open("/next")
    answered.set()
    visitor.server.answer = acknowledge
    visitor.js(INIT)
    _, *tries = visitor.server.wait_for(3)
    assert {call["call_id"] for call in tries} == {tries[0]["call_id"]}


def test_a_clock_that_was_corrected(visitor: Visitor) -> None:
    """Must arrive: sales that clocks of this and of the next century have dated, weeks from now."""
    visitor.open()
    for year in (1999, 2126):
        visitor.js(f"void ({LEAVE})({AT.format(year=year)!r})")
    visitor.js(INIT)
    visitor.server.wait_for(3)
    assert sorted(visitor.sent) == ["attribution", "left", "left"]


@in_chromium
def test_what_is_dropped_is_counted(visitor: Visitor) -> None:
    """`init`'s state has the number of calls that were dropped, while the page is open, and grows."""
    visitor.open()
    visitor.js(f"window.starting = {INIT.replace('apiKey', 'consentMode: `required`, apiKey')}")
    visitor.js(f"void (() => {{ {EVENTS.format(count=150)} }})()")
    assert visitor.js("starting.then((state) => state.dropped)") == 50
    visitor.js(f"void (() => {{ {EVENTS.format(count=7)} }})()")
    assert visitor.js("starting.then((state) => ({...state}))") == {"dropped": 57, "unknown": 0, "baseUrl": 0}


def test_each_kind_of_loss_is_a_warning(page: Page, said: list[str], server: RecordingServer) -> None:
    """Too many calls, and rubbish in storage: one line each, without `debug`."""
    page.goto(server.url())
    for number in range(3):
        page.evaluate(f"localStorage['waylink:c_web_test:call_{number}'] = 'rubbish'")
    page.evaluate(f"window.starting = {INIT}; 0")
    assert page.evaluate("starting.then((state) => state.unknown)") == 3
    server.answer = refuse(503, Retry_After="600")
    page.evaluate(SENTINEL)
    page.evaluate(f"{EVENTS.format(count=150)}; 0")
    wait_for(lambda: page.evaluate("starting.then((state) => state.dropped)"), "none is dropped")
    wait_for(lambda: page.evaluate("0") or said, "not told", lambda told: len(told) > 1)
    told = [text.split()[1] for text in said if text.startswith("Waylink")]
    assert sorted(told) == ["dropped", "unknown"]


@in_chromium
def test_a_loss_that_the_site_asked_for_is_none(visitor: Visitor) -> None:
    """What a refusal of consent discards is neither counted nor told."""
    visitor.open()
    visitor.js("void (window.told = [], console.warn = (...all) => told.push(all.join(' ')))")
    visitor.js(f"void (window.starting = {INIT.replace('apiKey', 'consentMode: `required`, apiKey')})")
    visitor.js(f"void (() => {{ {EVENTS.format(count=20)}; Waylink.denyConsent() }})()")
    assert visitor.js("starting.then((state) => state.dropped)") == 0
    assert visitor.js("told") == []


@in_chromium
def test_the_first_argument_of_track_event_is_the_name(visitor: Visitor) -> None:
    """What is no name is refused by name, also where the fields have one; they never take its place."""
    visitor.visit()
    for wrong in ("0", "false", "null", "undefined", "''", "' '", "NaN", "{}", "() => 1", "Symbol('x')"):
        told = visitor.js(f"Waylink.trackEvent({wrong}, {{name: 'x'}}).catch((error) => error.message)")
        assert told.split()[:2] == ["Waylink:", "name"], wrong
    assert visitor.js("Waylink.trackEvent('a', {name: 'x'}).then((outcome) => outcome.status)") == "accepted"
    visitor.expect("attribution", "a")


def test_the_address_of_a_page_may_be_long(visitor: Visitor) -> None:
    """A page's address of 70,000 characters is sent shortened; the campaign in it is known."""
    visitor.open()
    visitor.js(f"history.replaceState(null, '', '/{'x' * 70_000}?utm_source=news')")
    visitor.js(INIT)
    visitor.js(SENTINEL)
    check, event = visitor.server.wait_for(2)
    assert check["signals"] == {"utm_source": "news"}
    for call in (check, event):
        assert 2048 < len(call["page"]) < 5000  # so that the service says that it has cut it
        assert call["page"].startswith(visitor.url("/xxx"))


def test_routes_in_the_fragment_have_campaigns(visitor: Visitor) -> None:
    """A hash router's route is checked when it is opened and when it is reached, once, with its signals."""
    visitor.visit("/#/kites?utm_source=landing")
    visitor.js("void (location.hash = '#/sale')")
    visitor.js("""new Promise((changed) => {
      addEventListener('hashchange', () => changed(), {once: true});
      location.hash = '#/sale?size=9&utm_source=route';
    })""")
    visitor.server.wait_for(2)
    visitor.expect("attribution", "attribution")
    assert [call["signals"] for call in visitor.server.calls[:2]] == [
        {"utm_source": "landing"},
        {"utm_source": "route"},
    ]
    assert visitor.server.calls[1]["page"] == visitor.url("/?utm_source=route")
