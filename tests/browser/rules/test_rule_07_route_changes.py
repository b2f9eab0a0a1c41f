"""Rule 7: route changes are checked by rule 2; same-URL checks are deduplicated."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.browser.recording_server import RecordingServer
from tests.browser.shop_pages import INIT, visit

SENTINEL = "Waylink.trackEvent('sentinel')"


def test_a_route_with_a_signal_is_checked_once(page: Page, server: RecordingServer) -> None:
    """pushState, replaceState and popstate: an address with a signal is checked once."""
    visit(page, server)
    page.evaluate(
        "history.pushState(null, '', '/plain'); history.replaceState(null, '', '/?utm_source=a');"
        "history.pushState(null, '', '/?utm_source=a'); history.pushState(null, '', '/?utm_source=b')"
    )
    page.evaluate("new Promise(done => { addEventListener('popstate', done); history.back() })")
    page.evaluate(SENTINEL)
    calls = server.wait_for(4)
    assert [call.get("signals") for call in calls] == [{}, {"utm_source": "a"}, {"utm_source": "b"}, None]


def test_without_auto_tracking_only_track_page_view_checks(page: Page, server: RecordingServer) -> None:
    """With autoPageTracking false, history is left alone, and trackPageView does the check."""
    visit(page, server, options="autoPageTracking: false")
    assert page.evaluate("Object.keys(history)") == []
    page.evaluate("history.pushState(null, '', '/?gclid=1'); history.pushState(null, '', '/?gclid=2')")
    page.evaluate("Waylink.trackPageView(); Waylink.trackPageView(); " + SENTINEL)
    assert [call.get("signals") for call in server.wait_for(3)] == [{}, {"gclid": "2"}, None]


def test_other_codes_wrapper_keeps_working(page: Page, server: RecordingServer) -> None:
    """A wrapper set before init and one set after are both called once; name and length stay."""
    page.goto(server.url())
    wrap = (
        "{{ const old = history.pushState;"
        " history.pushState = function (...a) {{ {0}++; return old.apply(this, a) }} }} 0"
    )
    page.evaluate("window.before = window.after = 0")
    page.evaluate(wrap.format("before"))
    page.evaluate(INIT)
    page.evaluate(wrap.format("after"))
    page.evaluate("history.pushState(null, '', '/?ttclid=1')")
    server.wait_for(2)
    assert page.evaluate("[before, after]") == [1, 1]
    assert page.evaluate("[history.replaceState.name, history.replaceState.length]") == ["replaceState", 2]


def test_a_refused_change_is_passed_on(page: Page, server: RecordingServer) -> None:
    """What the native method throws reaches the caller, and no check is made."""
    visit(page, server)
    name = page.evaluate(
        "try { history.pushState(null, '', 'https://other.test/?gclid=1') } catch (e) { e.name }"
    )
    page.evaluate(SENTINEL)
    server.wait_for(2)
    assert (name, server.kinds) == ("SecurityError", ["attribution", "event"])


def test_a_frozen_history_is_left_alone(page: Page, server: RecordingServer) -> None:
    """A page that has frozen history gets no error; going back is still noticed."""
    page.goto(server.url())
    page.evaluate("Object.freeze(history); " + INIT)
    page.evaluate("history.pushState(null, '', '/?gclid=1'); Waylink.trackPageView()")
    assert server.wait_for(2)[1]["signals"] == {"gclid": "1"}
