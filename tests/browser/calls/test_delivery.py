"""Delivery: the outbox survives failures, navigation, closed tabs and being offline."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack
from email.utils import formatdate

import pytest
from playwright.sync_api import Page

from tests.browser.recording_server import (
    Answer,
    Call,
    RecordingServer,
    acknowledge,
    once,
    recording_server,
    refuse,
    reject,
)
from tests.browser.shop_pages import CONVERSION, INIT, PAUSE_LEFT, STORE, stored, visit
from tests.polling import wait_for

REFUSED = [400, 401, 403, 413, 415]
# What others answer with these statuses: pages, nothing, and JSON that is not the service's.
FOREIGN = [
    "<html><h1>Checking your browser</h1></html>",
    "",
    "null",
    "{}",
    '{"message": "Forbidden"}',
    '{"code": 403, "error": "Forbidden"}',
    '{"error": {"code": 403, "message": "The caller has no permission", "status": "PERMISSION_DENIED"}}',
    '{"success": false, "errors": [{"code": 1020, "message": "Access denied"}], "results": []}',
    '{"error": {"errorMessage": "No", "fieldName": "x"}}',
]
GARBAGE = ["", "null", '{"results": 5}', '{"results": [null]}', '{"results": []}']
NOTHING_LEFT = "!Object.keys(localStorage).some(name => name.includes(':call_'))"


def slowly(batch: Call) -> Answer:
    """A service that is 150 ms away."""
    time.sleep(0.15)
    return acknowledge(batch)


def test_a_tab_closed_right_after_the_call(page: Page, server: RecordingServer) -> None:
    """Three of three conversions arrive whose tab is closed in the same moment, the service 150 ms away."""
    visit(page, server)
    server.answer = slowly
    for _ in range(3):
        tab = page.context.new_page()
        visit(tab, server)
        tab.evaluate(f"{CONVERSION}; 0")
        tab.close()
    server.wait_for(4)
    assert len({call["call_id"] for call in server.calls}) == 4


def names_of(server: RecordingServer) -> list[list[str]]:
    """The names of the calls in each batch after the first, which is the check's."""
    return [[call["name"] for call in request["batch"]["calls"]] for request in server.requests[1:]]


def test_calls_in_a_row(page: Page, server: RecordingServer) -> None:
    """Three calls in a row are two requests: the first goes at once, the others together, in order."""
    visit(page, server)
    page.evaluate("Waylink.trackEvent('a'); Waylink.trackEvent('b'); Waylink.trackEvent('c')")
    assert names_of(server) == [["a"], ["b", "c"]]


def test_calls_made_during_a_request_share_the_next(page: Page, server: RecordingServer) -> None:
    """What is tracked while a request is under way goes together with the next one, in order."""
    visit(page, server)
    answered = threading.Event()
    server.answer = once(answered, acknowledge)
    page.evaluate("Waylink.trackEvent('a'); 0")
    server.wait_for(2)
    page.evaluate("Waylink.trackEvent('b'); window.last = Waylink.trackEvent('c'); 0")
    answered.set()
    page.evaluate("last")
    assert names_of(server) == [["a"], ["b", "c"]]


def test_what_is_not_acknowledged_is_sent_again(page: Page) -> None:
    """A failure or garbage keeps the call, and is no error of the page, which sends the call again by itself,
    with the same call_id."""
    answers = [(503, "{}"), (500, "{}"), (200, FOREIGN[0]), *((200, body) for body in GARBAGE)]
    faults: list[str] = []
    with ExitStack() as opened:
        tabs: list[tuple[Page, RecordingServer]] = []
        for status, body in answers:  # at once, since each waits before it sends again
            server = opened.enter_context(recording_server())
            tab = page.context.new_page()
            tab.on("pageerror", lambda error: faults.append(str(error)))
            visit(tab, server)
            server.answer = lambda _, answer=(status, {}, body): answer  # type: ignore[misc]
            tab.evaluate(CONVERSION)
            server.answer = acknowledge
            tabs.append((tab, server))
        for (tab, server), answer in zip(tabs, answers, strict=True):
            first, second = server.wait_for(3)[1:]
            assert first["call_id"] == second["call_id"], answer
            tab.wait_for_function(NOTHING_LEFT, polling=100)
    assert faults == []


def test_a_later_page_sends_what_is_left(page: Page, server: RecordingServer) -> None:
    """What a failing service did not acknowledge arrives from the next page, with the same call_id."""
    visit(page, server)
    server.answer = refuse(503)
    page.evaluate(CONVERSION)
    server.answer = acknowledge
    visit(page, server, "/later")
    first, second = server.wait_for(3)[1:]
    assert first["call_id"] == second["call_id"]


@pytest.mark.parametrize("form", ["seconds", "a date"])
def test_retry_after_is_kept(page: Page, server: RecordingServer, form: str) -> None:
    """A 429 with Retry-After silences this page and the next; what they track waits in storage."""
    visit(page, server)
    server.answer = refuse(
        429, Retry_After="600" if form == "seconds" else formatdate(time.time() + 600, usegmt=True)
    )
    page.evaluate(CONVERSION)
    server.answer = acknowledge
    page.evaluate(CONVERSION)
    visit(page, server, "/next")
    page.evaluate(CONVERSION)
    assert server.kinds == ["attribution", "conversion"]
    assert sum(":call_" in name for name in stored(page)) == 3
    wait = page.evaluate(PAUSE_LEFT)
    assert 500_000 < wait <= 600_000


def test_a_refused_call_is_dropped(page: Page, server: RecordingServer) -> None:
    """A refusal in the service's own words, which would be the same again, ends the matter."""
    visit(page, server)
    for status in REFUSED:
        server.answer = reject(status)
        page.evaluate(CONVERSION)
        assert not [name for name in stored(page) if ":call_" in name], status
    assert server.kinds == ["attribution", *["conversion"] * len(REFUSED)]


def test_who_is_not_the_service_ends_no_call(page: Page, faults: list[str], server: RecordingServer) -> None:
    """What firewalls, proxies and portals answer deletes nothing, and neither does garbage: each sale waits,
    and arrives in the end. None is an error of the page."""
    visit(page, server)
    answers = [
        *((status, FOREIGN[0]) for status in (200, *REFUSED)),
        *((403, body) for body in FOREIGN[1:]),
        *((200, body) for body in GARBAGE),
        (500, "{}"),
    ]
    for status, body in answers:
        server.answer = lambda _, answer=(status, {}, body): answer  # type: ignore[misc]
        page.evaluate(f"localStorage.removeItem('{STORE}pause')")
        assert page.evaluate(CONVERSION) == {"status": "waiting"}, (status, body)
    sales = {call["call_id"] for call in server.calls if call["kind"] == "conversion"}
    assert len(sales) == len(answers)
    server.requests.clear()
    server.answer = acknowledge
    page.evaluate(f"localStorage.removeItem('{STORE}pause')")
    visit(page, server, "/later")
    wait_for(
        lambda: {call["call_id"] for call in server.calls}, "these arrived", lambda arrived: arrived == sales
    )
    page.wait_for_function(NOTHING_LEFT, polling=100)
    assert faults == []


def test_offline_and_back(page: Page, server: RecordingServer) -> None:
    """What is tracked offline arrives once the browser is online, in order and once."""
    visit(page, server)
    page.context.set_offline(True)
    page.evaluate("Waylink.trackEvent('a')")
    page.evaluate("Waylink.trackEvent('b')")
    page.context.set_offline(False)
    server.wait_for(3)
    page.wait_for_function(NOTHING_LEFT, polling=100)
    assert [call.get("name") for call in server.calls] == [None, "a", "b"]


def test_calls_of_one_moment_keep_their_order(page: Page, server: RecordingServer) -> None:
    """What was made in one task, and is sent again later, arrives in the order of the calls."""
    visit(page, server)
    server.answer = refuse(503)
    page.evaluate("Promise.all([...Array(20).keys()].map(number => Waylink.trackEvent('e' + number)))")
    server.requests.clear()
    server.answer = acknowledge
    server.wait_for(20)
    assert [call["name"] for call in server.calls] == [f"e{number}" for number in range(20)]


def test_two_tabs_send_once(page: Page, server: RecordingServer) -> None:
    """Calls left behind are sent by one of two tabs that find them at the same moment."""
    visit(page, server, host="localhost")
    server.answer = refuse(503)
    page.evaluate(CONVERSION)
    page.goto(server.url("/blank", host="localhost"))
    page.wait_for_function(f"{PAUSE_LEFT} < 0", polling=100)
    server.answer = slowly
    other = page.context.new_page()
    other.goto(server.url("/", host="localhost"))
    for tab in (page, other):
        tab.evaluate(f"{INIT}; 0")
    for tab in (page, other):
        tab.evaluate("Waylink.trackEvent('sentinel')")
        tab.wait_for_function(NOTHING_LEFT, polling=100)
    assert server.kinds.count("conversion") == 2  # the one that was refused, and the one that was not
    assert server.kinds.count("event") == 2
    assert len({call["call_id"] for call in server.calls}) == 4


def test_the_outbox_is_bounded(page: Page, server: RecordingServer) -> None:
    """At most 100 calls are kept, the newest; what is older than a week is dropped."""
    visit(page, server)
    old = page.evaluate(
        "() => { const call = {call_id: crypto.randomUUID?.() ?? '0'.repeat(36),"
        "occurred_at: new Date(Date.now() - 8 * 864e5).toISOString()};"
        f"const name = '{STORE}call_' + call.occurred_at + call.call_id;"
        "localStorage[name] = JSON.stringify({device: 'd', until: 0, call}); return name }"
    )
    page.evaluate(f"localStorage['{STORE}pause'] = Date.now() + 600000")
    page.evaluate("Promise.all([...Array(150).keys()].map(i => Waylink.trackEvent('e' + i)))")
    page.evaluate("Waylink.trackEvent('last')")
    page.wait_for_function("Object.keys(localStorage).filter(n => n.includes(':call_')).length <= 100")
    assert old not in stored(page)
    assert server.kinds == ["attribution"]


def test_no_timer_when_idle(page: Page, server: RecordingServer) -> None:
    """A page with nothing to send has no timer running."""
    page.goto(server.url())
    page.evaluate(
        "window.running = new Set(); const set = setTimeout, clear = clearTimeout;"
        "window.setTimeout = (f, ms) => { const id = set(() => { running.delete(id); f() }, ms);"
        "running.add(id); return id }; window.clearTimeout = id => { running.delete(id); clear(id) };"
        f"Waylink.init({{apiKey: 'k'}}).then(() => {CONVERSION})"
    )
    assert page.evaluate("running.size") == 0
