"""No call waits for another one that is made later, nor for a page or a tab that is gone."""

from __future__ import annotations

import threading

from tests.browser.recording_server import acknowledge, once, refuse
from tests.browser.visitor import INIT, SENTINEL, Visitor, beside_firefox

TICKS = 12  # more than there are between the end of an answer and the end of what the SDK does about it
LONGEST = 10_000  # milliseconds for an answer
# Holds each answer back until `go` is called, and then gives it to the page within one microtask.
HOLD_ANSWERS = """(() => {
  const own = fetch;
  window.fetch = async (...request) => {
    const answer = await own(...request);
    const content = await answer.json();
    await new Promise((go) => { window.go = go; });
    window.go = null;
    return {status: answer.status, headers: answer.headers, json: async () => content};
  };
  window.letGo = async () => { while (!window.go) await new Promise((later) => setTimeout(later, 5)); go(); };
})()"""
# Makes a call so many microtasks after the answer of another.
CALL_AS_AN_ANSWER_ENDS = """(async (ticks) => {
  const first = Waylink.trackEvent('first');
  await letGo();
  for (let tick = 0; tick < ticks; tick++) await 0;
  const second = Waylink.trackEvent('second').then(() => 'sent');
  await first;
  letGo();
  return Promise.race([second, new Promise((late) => setTimeout(late, 9000, 'left behind'))]);
})(%d)"""
# A call that a page has left which died at work on it.
LEAVE_LEASED = """(() => {
  const call = {kind: 'event', call_id: '01234567-89ab-4def-8123-456789abcdef', name: 'left',
    occurred_at: new Date(Date.now() - 5000).toISOString(), page: location.href};
  localStorage['waylink:c_web_test:call_' + call.occurred_at + call.call_id] =
    JSON.stringify({device: call.call_id, call, until: Date.now() + 29000});
})()"""
# The SDK waits half a second for a lock instead of ten, and for an answer as long as it takes: one that a
# busy machine gives late must not be asked for again.
HASTE_WITH_LOCKS = """(() => {
  const own = AbortSignal.timeout, ownFetch = fetch;
  AbortSignal.timeout = (milliseconds) => own.call(AbortSignal, milliseconds / 20);
  window.fetch = (address, request) => ownFetch(address, {...request, signal: null});
})()"""
# The time that the SDK gives the next request is `allowed`, and over when `giveUp` is called.
TIME_IN_HAND = """(() => {
  const own = AbortSignal.timeout, time = new AbortController();
  AbortSignal.timeout = (milliseconds) => {
    AbortSignal.timeout = own;
    window.allowed = milliseconds;
    return time.signal;
  };
  window.giveUp = () => time.abort(new DOMException('', 'TimeoutError'));
})()"""
# A tab that never lets go of the SDK's locks.
HOLD_LOCKS = """(() => {
  for (const name of ['cl_device_id', 'waylink:'])
    navigator.locks.request(name, () => new Promise(() => 0));
})()"""


@beside_firefox
def test_a_call_that_comes_as_an_answer_ends(visitor: Visitor) -> None:
    """Must arrive by itself: a call made in any of the microtasks in which a request before it ends."""
    visitor.visit()
    visitor.js(HOLD_ANSWERS)
    for ticks in range(TICKS):
        assert visitor.js(CALL_AS_AN_ANSWER_ENDS % ticks) == "sent"
    assert visitor.sent == ["attribution", *["first", "second"] * TICKS]


def test_a_call_does_not_wait_for_the_lease_of_another(visitor: Visitor) -> None:
    """Must arrive after its own pause: a call that failed, beside one that is leased for 30 seconds."""
    visitor.open()
    visitor.js(LEAVE_LEASED)
    visitor.js(INIT)
    visitor.server.answer = refuse(503)
    visitor.js(SENTINEL)
    visitor.server.answer = acknowledge
    visitor.server.wait_for(3)
    assert visitor.sent == ["attribution", "sentinel", "sentinel"]


def test_a_tab_that_sleeps_with_a_lock_stops_no_other(visitor: Visitor) -> None:
    """Must arrive: the check and what was left behind, although another tab keeps both locks for ever."""
    visitor.open()
    visitor.js(LEAVE_LEASED.replace("+ 29000", "- 1"))
    visitor.js(HOLD_LOCKS)
    visitor.js(HASTE_WITH_LOCKS)
    visitor.js(INIT)
    visitor.server.wait_for(2)
    assert visitor.sent == ["attribution", "left"]


def test_a_request_that_hangs_is_given_up(visitor: Visitor) -> None:
    """Must arrive although the answer of a request never comes: its call again, and the one behind it."""
    visitor.visit()
    visitor.js(TIME_IN_HAND)
    answered = threading.Event()
    visitor.server.answer = once(answered, acknowledge)
    visitor.js("void Waylink.trackEvent('first'), void Waylink.trackEvent('second')")
    visitor.server.wait_for(2)
    visitor.server.answer = acknowledge
    assert visitor.js("allowed") <= LONGEST
    visitor.js("giveUp()")
    visitor.server.wait_for(4)
    assert visitor.sent == ["attribution", "first", "first", "second"]
    answered.set()
