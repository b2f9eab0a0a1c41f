"""The promise of a call tells what became of it, and what the contract gives no answer to returns nothing."""

from __future__ import annotations

import re

from playwright.sync_api import Page

from tests.browser.recording_server import RecordingServer, refuse, reject, reject_each
from tests.browser.shop_pages import CONVERSION, visit
from tests.browser.sites.test_snippet import SNIPPET

SILENT = ["identify({customer_id: 'c'})", "trackPageView()", "grantConsent()", "denyConsent()", "reset()"]


def test_what_is_sent_again_waits(page: Page, server: RecordingServer) -> None:
    """After a failure, during the pause that follows it, and where nobody answers."""
    visit(page, server)
    server.answer = refuse(503, Retry_After="600")
    assert page.evaluate(f"Promise.all([{CONVERSION}, {CONVERSION}])") == [{"status": "waiting"}] * 2
    assert page.evaluate(CONVERSION) == {"status": "waiting"}
    visit(page, server, options="baseUrl: 'http://127.0.0.1:1'", host="blocked.test")
    assert page.evaluate(CONVERSION) == {"status": "waiting"}


def test_what_the_service_rejects_is_told(page: Page, server: RecordingServer) -> None:
    """One call by its own result, all of a request by the request's."""
    visit(page, server)
    server.answer = reject_each
    told = page.evaluate("Waylink.trackEvent('a')")
    assert (told["status"], told["error"]["fieldName"]) == ("rejected", "name")
    server.answer = reject(401)
    told = page.evaluate("Waylink.trackEvent('a')")
    assert (told["status"], told["error"]["errorMessage"]) == ("rejected", "Invalid Api Key")


def test_what_is_not_sent_has_no_outcome(page: Page, server: RecordingServer) -> None:
    """Undefined, by the page's own words: calls that consent discards, before and after init."""
    visit(page, server)
    page.evaluate("Waylink.denyConsent()")
    assert page.evaluate(f"{CONVERSION}.then((outcome) => outcome === undefined)")


def test_no_answer_is_none(page: Page, server: RecordingServer) -> None:
    """Nothing is returned, by the SDK and by the snippet before it has loaded."""
    visit(page, server)
    for call in SILENT:
        assert page.evaluate(f"Waylink.{call} === undefined"), call
    snippet = re.sub(r"</?script>", "", SNIPPET)
    page.evaluate("code => { delete window.Waylink; (0, eval)(code) }", snippet)
    for call in SILENT:
        assert page.evaluate(f"Waylink.{call} === undefined"), call
    assert page.evaluate("Waylink.q.length") == len(SILENT)
