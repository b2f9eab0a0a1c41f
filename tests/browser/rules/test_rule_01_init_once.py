"""Rule 1: init is called once; calls made before it resolves are queued and flushed after."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.browser.recording_server import RecordingServer
from tests.browser.shop_pages import CONVERSION, INIT, visit


def test_a_second_init_is_ignored(page: Page, server: RecordingServer) -> None:
    """The second init gives the first one's promise, and nothing more is sent."""
    page.goto(server.url())
    assert page.evaluate(f"{INIT} === {INIT}")
    page.evaluate(f"{INIT}; {CONVERSION}")
    server.wait_for(2)
    assert server.kinds == ["attribution", "conversion"]


def test_calls_before_init_keep_their_order(page: Page, server: RecordingServer) -> None:
    """What is called before init follows the check, in the order of the calls, with the time of each call."""
    page.goto(server.url())
    page.evaluate(
        "Waylink.trackEvent('a'); Waylink.identify({customer_id: 'c'}); Waylink.trackLead(); " + INIT
    )
    server.wait_for(4)
    assert server.kinds == ["attribution", "event", "identify", "lead"]
    assert [call.get("customer_id") or None for call in server.calls] == [None, None, "c", "c"]


def test_arguments_are_taken_when_the_call_is_made(page: Page, server: RecordingServer) -> None:
    """What a page changes in its own object after the call is not sent."""
    page.goto(server.url())
    page.evaluate("const lead = {name: 'before'}; Waylink.trackLead(lead); lead.name = 'after'; " + INIT)
    assert server.wait_for(2)[1]["name"] == "before"


def test_a_script_loaded_twice_counts_once(page: Page, server: RecordingServer) -> None:
    """A second copy of the script changes nothing: the first one's object stays."""
    visit(page, server)
    page.evaluate("window.first = Waylink")
    page.add_script_tag(url="/waylink.js")
    assert page.evaluate("first === Waylink")
    page.evaluate(f"{INIT}; {CONVERSION}")
    server.wait_for(2)
    assert server.kinds == ["attribution", "conversion"]
