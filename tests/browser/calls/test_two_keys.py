"""Two API keys on one origin, of two organizations, say: what one has stored is not the other's."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.browser.recording_server import RecordingServer, acknowledge, refuse
from tests.browser.shop_pages import CONVERSION, stored, visit
from tests.polling import wait_for

SECOND = "apiKey: 'c_web_second'"


def by_key(server: RecordingServer) -> list[tuple[str, str]]:
    """The kind of each call that arrived, with the key that it came with."""
    batches = [request["batch"] for request in server.requests]
    return [(batch["api_key"][6:], call["kind"]) for batch in batches for call in batch["calls"]]


def test_what_waits_is_sent_with_its_key(page: Page, server: RecordingServer) -> None:
    """A sale that failed under one key isn't sent under another, whose page is not held up by that one's
    pause; it arrives with its own key, from the next page that has it."""
    visit(page, server)
    server.answer = refuse(503, Retry_After="1")
    page.evaluate(CONVERSION)
    server.answer = acknowledge
    visit(page, server, "/second", SECOND)
    page.evaluate("Waylink.trackLead()")
    page.evaluate("dispatchEvent(new Event('online'))")
    page.evaluate("Waylink.trackEvent('sentinel')")
    assert by_key(server)[2:] == [("second", "lead"), ("second", "event")]
    visit(page, server, "/first")
    wait_for(lambda: by_key(server), "not sent", lambda found: found[-1] == ("test", "conversion"))


def test_a_tab_s_session_belongs_to_a_key(page: Page, server: RecordingServer) -> None:
    """Customer and attribution of one key are unknown to the other, and both are asked about an address."""
    visit(page, server, "/?utm_source=news")
    page.evaluate("Waylink.identify({customer_id: 'c-17'})")
    server.wait_for(2)
    visit(page, server, "/second", SECOND)
    assert page.evaluate("Waylink.getAttribution()") is None
    page.evaluate(CONVERSION)
    server.wait_for_kinds("conversion")
    (sale,) = [call for call in server.calls if call["kind"] == "conversion"]
    assert not sale.get("customer_id")
    visit(page, server, "/?utm_source=news", SECOND)
    assert by_key(server)[-1] == ("second", "attribution")


def test_a_withdrawal_deletes_what_both_have(page: Page, server: RecordingServer) -> None:
    """Consent is the origin's: what waits under the other key goes too."""
    visit(page, server, "/?utm_source=news")
    server.answer = refuse(503, Retry_After="600")
    page.evaluate(CONVERSION)
    visit(page, server, "/second", SECOND)
    assert any("c_web_test:call_" in name for name in stored(page))
    page.evaluate("Waylink.denyConsent()")
    assert stored(page) == []
