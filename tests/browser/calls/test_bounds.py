"""What waits is bounded, and no clock and no rubbish in storage makes the SDK silent or loud."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from typing import Any

import pytest
from playwright.sync_api import Page

from backend.domain.visitors.batches import MOST_CALLS
from tests.browser.recording_server import (
    Answer,
    RecordingServer,
    acknowledge,
    once,
    recording_server,
    refuse,
)
from tests.browser.shop_pages import CONVERSION, INIT, PAUSE_LEFT, STORE, expect_sent, visit
from tests.browser.visitor import Visitor
from tests.polling import wait_for

STORED = """[Object.keys(localStorage).filter((name) => name.includes(':call_')).length,
  Object.entries(localStorage).join().length]"""
MANY = (
    "for (let i = 0; i < {count}; i++)"
    " Waylink.trackEvent('e' + i, {{metadata: {{filling: 'x'.repeat({size})}}}})"
)
COUNT_TIMERS = """window.timers = 0;
const later = setTimeout;
window.setTimeout = (run, pause) => { if (!(pause > 100)) timers++; return later(run, pause) };
0"""
# An entry as a page would have left it, changed by `change`, under its own key unless `change` says another.
LEAVE = """(change) => {
  const call = {kind: 'event', call_id: '01234567-89ab-4def-8123-456789abcdef', name: 'left',
    occurred_at: new Date(Date.now() - 5000).toISOString(), page: location.href};
  let entry = {device: '01234567-89ab-4def-8123-456789abcdef', call, until: 0};
  let name = 'waylink:c_web_test:call_' + call.occurred_at + call.call_id;
  eval(change);
  localStorage[name] = typeof entry == 'string' ? entry : JSON.stringify(entry);
}"""
# `pauses` are the lengths of the first three.
RECORD_PAUSES = """window.pauses = new Promise((three) => {
  const lengths = [], own = Storage.prototype.setItem;
  Storage.prototype.setItem = function (name, value) {
    if (name == 'waylink:c_web_test:pause') lengths.push(value - Date.now());
    if (lengths.length == 3) three(lengths);
    own.call(this, name, value);
  };
}); 0"""
RENAME = "name = 'waylink:c_web_test:call_' + call.occurred_at + call.call_id"
AT = f"call.occurred_at = '{{year}}' + call.occurred_at.slice(4); {RENAME}"
# By a clock that was corrected since, and each time kept for another week.
SENT = {
    "of the next century": f"{AT.format(year=2126)}",
    "of the last century": f"{AT.format(year=1999)}; entry.resolve = 'x'; entry.outcome = 5",
    "leased for weeks": "entry.until = Date.now() + 24.8 * 864e5 + 1e6",
    "leased until never": "delete entry.until",
    "leased until nonsense": "entry.until = 'soon'",
}
PAUSES = {
    "for years": "Date.now() + 1e12",
    "begun before the clock was set back by an hour": "Date.now() + 36e5 + 3000",
    "of a former form": "Date.now() + ' 3000'",
    "a word": "'soon'",
    "not a number": "'NaN'",
    "rubbish": "'{]'",
}
THROWN_AWAY = {
    "without a device": "delete entry.device",
    "of no device": "entry.device = null",
    "of what is no device": "entry.device = ['01234567-89ab-4def-8123-456789abcdef']",
    "a list": "entry = '[]'",
    "found to be too old a week ago": "entry.since = Date.now() - 8 * 864e5",
    "found to be too old at no time": "entry.since = 'soon'",
    "of no call's id": "call.call_id = 'x'; name = name.slice(0, -36) + 'x'",
    "under another key": "name = name.replace('0123', '4567')",
    "without a call": "entry.call = 5",
    "no JSON": "entry = '{]'",
    "null": "entry = 'null'",
}


def visit_anew(page: Page, server: RecordingServer) -> None:
    """Open the page as a visitor who was never here; the SDK is loaded and not started."""
    page.context.clear_cookies()
    page.goto(server.url())
    page.evaluate("localStorage.clear(), sessionStorage.clear()")
    server.requests.clear()


def test_a_hanging_request_fills_nothing(page: Page, server: RecordingServer) -> None:
    """While a request hangs, 300 calls leave 100 entries and 256 KB at most, and the page can store."""
    answered = threading.Event()
    visit(page, server)
    server.answer = once(answered, acknowledge)
    page.evaluate("Waylink.trackEvent('first'); 0")
    server.wait_for(2)
    page.evaluate(MANY.format(count=300, size=4000) + "; 0")
    calls, characters = page.evaluate(STORED)
    assert 0 < calls <= 100
    assert characters <= 256_000 + 1000
    page.evaluate("localStorage.cart = 'x'.repeat(1e6)")
    answered.set()


def test_the_newest_of_too_many_arrive(page: Page, said: list[str], server: RecordingServer) -> None:
    """The oldest go first, which `debug` says; their promises resolve. No batch is longer than is taken."""
    visit(page, server, options="debug: true")
    server.answer = refuse(503)
    page.evaluate("Waylink.trackEvent('first')")
    page.evaluate("Promise.all([...Array(150).keys()].map((i) => Waylink.trackEvent('e' + i)))")
    assert page.evaluate(STORED)[0] == 100
    wait_for(lambda: page.evaluate("0") or said, "not told", lambda told: "dropped" in "".join(told))
    server.answer = acknowledge
    server.requests.clear()
    server.wait_for(100)
    assert {call["name"] for call in server.calls} == {f"e{number}" for number in range(50, 150)}
    assert max(len(request["batch"]["calls"]) for request in server.requests) <= MOST_CALLS


@pytest.mark.parametrize("without", ["delete entry.device", "entry.device = null"])
def test_a_page_goes_on(visitor: Visitor, without: str) -> None:
    """In every engine: three entries of storage without a device, and a lock that resolves without calling
    back, stop neither the page nor a call."""
    visitor.open()
    for number in "123":
        change = f"{without}; call.call_id = call.call_id.replace('f', '{number}'); {RENAME}"
        visitor.js(f"void ({LEAVE})({change!r})")
    stand_in = "{value: {request: async () => {}}, configurable: true}"
    visitor.js(f"void Object.defineProperty(navigator, 'locks', {stand_in})")
    visitor.js(INIT)
    visitor.expect("attribution")


def test_all_calls_of_one_task_arrive(visitor: Visitor) -> None:
    """In every engine, as many as are more than may be stored: before `init` has resolved, and behind a
    request; nothing is lost, and nothing is said."""
    visitor.open()
    visitor.js("void (window.told = [], console.warn = (...all) => told.push(all.join(' ')))")
    calls = "[...Array(130).keys()].map((i) => Waylink.trackEvent('e' + i))"
    for before in (f"{INIT}, ", ""):
        outcomes = f"Promise.all({calls}).then((all) => all.every(({{status}}) => status === 'accepted'))"
        assert visitor.js(f"({before}{outcomes})")
    assert visitor.sent == ["attribution", *[f"e{number}" for number in range(130)] * 2]
    assert visitor.js("told") == []


def test_a_loss_is_said_without_debug(page: Page, said: list[str], server: RecordingServer) -> None:
    """Once, however many calls are dropped."""
    visit(page, server, options="consentMode: 'required'")
    page.evaluate("for (let i = 0; i < 150; i++) Waylink.trackEvent('e' + i); 0")
    wait_for(lambda: page.evaluate("0") or said, "not told")
    assert len(said) == 1
    assert "dropped" in said[0]


def test_a_lock_that_is_none_stops_nothing(page: Page, server: RecordingServer) -> None:
    """A page's stand-in for locks may end without calling back, or call back twice."""
    for stand_in in ("async () => {}", "async (name, run) => (run(), run())"):
        visit_anew(page, server)
        locks = f"{{value: {{request: {stand_in}}}, configurable: true}}"
        page.evaluate(f"Object.defineProperty(navigator, 'locks', {locks}); 0")
        page.evaluate(f"{INIT}; Waylink.trackEvent('sentinel')")
        server.wait_for(2)
        assert [call.get("name") for call in server.calls] == [None, "sentinel"], stand_in


def test_no_clock_stops_the_page(page: Page, server: RecordingServer) -> None:
    """A page's stand-in for the clock may answer anything: calls go out all the same."""
    for answer in ("NaN", "undefined", "'soon'", "Infinity", "-1", "0", "8.64e15"):
        visit_anew(page, server)
        page.evaluate(f"Date.now = () => {answer}; 0")
        page.evaluate(f"{INIT}; Waylink.trackEvent('sentinel')")
        server.wait_for(2)
        assert [call.get("name") for call in server.calls] == [None, "sentinel"], answer


def test_what_waits_for_consent_is_bounded(page: Page, server: RecordingServer) -> None:
    """Of 150 calls before consent the newest 100 are sent; the promises of the others resolve."""
    visit(page, server, options="consentMode: 'required'")
    page.evaluate("window.made = [...Array(150).keys()].map((i) => Waylink.trackEvent('e' + i)); 0")
    page.evaluate("Promise.all(made.slice(0, 50))")
    page.evaluate("Waylink.grantConsent()")
    server.wait_for(101)
    assert [call["name"] for call in server.calls[1:]] == [f"e{number}" for number in range(50, 150)]


def test_a_lease_that_can_not_be_is_none(page: Page, server: RecordingServer) -> None:
    """What a wrong clock has dated or leased, or somebody else, is sent, and no timer storms."""
    for lease, change in SENT.items():
        visit_anew(page, server)
        page.evaluate(LEAVE, change)
        page.evaluate(COUNT_TIMERS)
        page.evaluate(INIT)
        server.wait_for_kinds("event")
        left = "Object.keys(localStorage).some((name) => name.includes(':call_'))"
        page.wait_for_function(f"!{left}", polling=100)
        assert page.evaluate("timers") < 20, lease


def test_what_is_not_whole_is_thrown_away(page: Page, server: RecordingServer) -> None:
    """An entry that no page of ours has left is deleted and not sent."""
    for entry, change in THROWN_AWAY.items():
        visit_anew(page, server)
        page.evaluate(LEAVE, change)
        page.evaluate(INIT)
        page.evaluate("Waylink.trackEvent('sentinel')")
        assert [call.get("name") for call in server.calls] == [None, "sentinel"], entry
        assert page.evaluate("Object.keys(localStorage)") == [], entry


def test_a_pause_that_can_not_be_is_none(page: Page, server: RecordingServer) -> None:
    """Too long a pause, or rubbish in its place does not silence the SDK."""
    for name, pause in PAUSES.items():
        visit_anew(page, server)
        page.evaluate(f"localStorage['{STORE}pause'] = {pause}; 0")
        page.evaluate(INIT)
        assert server.kinds == ["attribution"], name


ROUTES = "for (let i = 0; i < {count}; i++) history.pushState(null, '', '/route-' + i + '{query}')"


def test_routes_without_a_signal_take_no_call_s_place(page: Page, server: RecordingServer) -> None:
    """A sale that waits for consent is sent after 150 route changes and one with a signal, which is too."""
    visit(page, server, options="consentMode: 'required'")
    page.evaluate(f"{CONVERSION}; {ROUTES.format(count=150, query='')}; Waylink.trackPageView(); 0")
    page.evaluate("history.pushState(null, '', '/?gclid=1'); Waylink.grantConsent()")
    expect_sent(page, server, "attribution", "conversion", "attribution")


def test_checks_and_calls_have_places_of_their_own(page: Page, server: RecordingServer) -> None:
    """Of 150 routes with a signal the last 100 are checked; all 100 calls that waited with them are sent."""
    visit(page, server, options="consentMode: 'required'")
    page.evaluate("for (let i = 0; i < 100; i++) Waylink.trackEvent('e' + i); 0")
    page.evaluate(ROUTES.format(count=150, query="?gclid=1"))
    page.evaluate("Waylink.grantConsent()")
    server.wait_for(201)
    assert len([call for call in server.calls if call["kind"] == "event"]) == 100
    routes = [call["page"] for call in server.calls[1:] if call["kind"] == "attribution"]
    assert routes == [server.url(f"/route-{number}?gclid=1") for number in range(50, 150)]


def test_a_sale_is_the_last_to_go(page: Page, server: RecordingServer) -> None:
    """Of 151 calls that wait, for consent, behind a request or for a later page, the sale is not dropped."""
    events = "for (let i = 0; i < 150; i++) Waylink.trackEvent('e' + i)"
    visit(page, server, options="consentMode: 'required'")
    page.evaluate(f"{CONVERSION}; {events}; Waylink.grantConsent()")
    server.wait_for(101)
    answered = threading.Event()
    server.answer = once(answered, refuse(503))
    page.evaluate("Waylink.trackEvent('first'); 0")
    server.wait_for(102)
    page.evaluate(f"{CONVERSION}; {events}; window.last = Waylink.trackEvent('last'); 0")
    answered.set()
    page.evaluate("last")
    server.answer = acknowledge
    before = len(server.calls)
    visit(page, server, "/later")
    server.wait_for(before + 100)
    assert [server.kinds[:before].count("conversion"), server.kinds[before:].count("conversion")] == [1, 1]


def foreign(batch: dict[str, Any]) -> Answer:
    """An answer that acknowledges another call."""
    status, headers, body = acknowledge(batch)
    return status, headers, body.replace(batch["calls"][0]["call_id"], "0" * 36)


NO_USE = {
    "Retry-After: 0": refuse(503, Retry_After="0"),
    "a negative Retry-After": refuse(503, Retry_After="-5"),
    "a past Retry-After": refuse(503, Retry_After="Wed, 21 Oct 2015 07:28:00 GMT"),
    "foreign ids": foreign,
    "no ids": lambda _: (200, {}, '{"results": [{}]}'),
}


def test_each_answer_that_acknowledges_nothing_costs_a_longer_pause(page: Page) -> None:
    """The pauses grow, whatever the service asks for: the third is longer than 2 seconds."""
    with ExitStack() as opened:
        pages: dict[str, Page] = {}
        for name, answer in NO_USE.items():  # at once, since each takes its time
            server = opened.enter_context(recording_server())
            tab = pages[name] = page.context.new_page()
            visit(tab, server)
            tab.evaluate(RECORD_PAUSES)
            server.answer = answer
            tab.evaluate("Waylink.trackEvent('a'); 0")
        for name, tab in pages.items():
            pauses = tab.evaluate("pauses")
            assert 400 < pauses[0] <= 1500, name
            assert 1900 < pauses[2] <= 14_000, name


def test_a_long_retry_after_is_cut(page: Page, server: RecordingServer) -> None:
    """A service that asks for years of silence gets an hour."""
    visit(page, server)
    server.answer = refuse(503, Retry_After="99999999")
    page.evaluate("Waylink.trackEvent('a')")
    assert 3_500_000 < page.evaluate(PAUSE_LEFT) <= 3_600_000
