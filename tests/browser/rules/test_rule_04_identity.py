"""Rule 4: identify lasts for the tab session and is attached to later calls."""

from __future__ import annotations

import hashlib
import json

from playwright.sync_api import Page

from tests.browser.recording_server import RecordingServer
from tests.browser.shop_pages import CONVERSION, visit
from tests.polling import wait_for

MAIL = "62a14e44f765419d10fea99367361a727c12365e2520f32218d505ed9aa0f62f"


def test_identity_is_attached_to_later_calls(page: Page, server: RecordingServer) -> None:
    """Calls right after identify carry its customer, as do later pages'; a call's own customer wins."""
    visit(page, server)
    page.evaluate(
        f"Waylink.identify({{customer_id: 'c1'}}); {CONVERSION}; Waylink.trackLead({{customer_id: 'c2'}})"
    )
    server.wait_for(4)
    visit(page, server, "/next")
    page.evaluate("Waylink.trackEvent('seen', {customer_id: undefined})")
    server.wait_for(5)
    assert server.kinds == ["attribution", "identify", "conversion", "lead", "event"]
    assert [call.get("customer_id") for call in server.calls] == [None, "c1", "c1", "c2", "c1"]


def test_another_tab_has_no_identity(page: Page, server: RecordingServer) -> None:
    """The identity is the tab session's: a tab opened by hand does not have it."""
    visit(page, server)
    page.evaluate("Waylink.identify({customer_id: 'c1'})")
    server.wait_for(2)
    other = page.context.new_page()
    visit(other, server)
    other.evaluate(CONVERSION)
    assert not server.wait_for(3)[2]["customer_id"]


def test_contacts_are_hashed(page: Page, server: RecordingServer) -> None:
    """E-mail and phone leave the browser as hashes of their normal forms; the order holds."""
    visit(page, server, host="localhost")
    page.evaluate(
        "Waylink.identify({customer_id: 'c', email: ' John_Smith@gmail.com ', phone: '+1 (650) 555-1212'});"
        "Waylink.trackLead({email: 'john_smith@gmail.com'}); Waylink.trackEvent('after')"
    )
    identify, lead, event = server.wait_for(4)[1:]
    assert identify["email_sha256"] == lead["email_sha256"] == MAIL
    assert identify["phone_sha256"] == hashlib.sha256(b"+16505551212").hexdigest()
    assert event["kind"] == "event"
    assert "gmail" not in json.dumps(server.calls)


def test_without_crypto_contacts_are_dropped(page: Page, said: list[str], server: RecordingServer) -> None:
    """On a plain http page nothing can be hashed: the call goes without them, and debug says so."""
    visit(page, server, options="debug: true")
    page.evaluate("Waylink.trackLead({email: 'a@b.example', email_sha256: 'f'.repeat(64)})")
    lead = server.wait_for(2)[1]
    assert "email" not in lead
    assert lead["email_sha256"] == "f" * 64
    wait_for(lambda: page.evaluate("0") or said, "not told", lambda told: "Waylink email" in "".join(told))
