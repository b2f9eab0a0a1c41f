"""With `debug`, the console says what happens and why nothing happens, in words of a site owner."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.browser.recording_server import RecordingServer, refuse
from tests.browser.shop_pages import CONVERSION, visit

DEBUG = "debug: true"
TOLD = {
    "a known device": (
        "Waylink.trackPageView()",
        "Nothing sent: known device, no signal in address",
    ),
    "an address twice": (
        "history.pushState(null, '', '/?gclid=1'); history.pushState(null, '', '/?gclid=1')",
        "Nothing sent: address checked before in this tab",
    ),
    "a second init": ("Waylink.init({apiKey: 'k'})", "init ignored: called before"),
    "a wrong identity": ("Waylink.identify({})", "identify ignored: customer_id is required"),
    "e-mail on http": (
        "Waylink.trackLead({email: 'a@b.example'})",
        "email not sent: hashing needs https",
    ),
    "withdrawn consent": (
        "Waylink.denyConsent()",
        "Nothing sent: no consent, stored data deleted",
    ),
}


def listen(page: Page) -> list[str]:
    """What the SDK says in the console, from now on."""
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if "[Waylink]" in message.text else None)
    return said


def heard(page: Page, said: list[str]) -> str:
    """All that was said; the page has been asked once more, so that nothing is on its way."""
    page.evaluate("0")
    return "\n".join(said)


@pytest.mark.parametrize(("action", "reason"), TOLD.values(), ids=TOLD)
def test_the_reason_is_told(page: Page, server: RecordingServer, action: str, reason: str) -> None:
    """Where nothing is sent, or not all of it, the console says why."""
    visit(page, server, options=DEBUG)
    said = listen(page)
    page.evaluate(f"{action}; 0")
    page.evaluate(CONVERSION)
    assert reason in heard(page, said)


def test_what_is_sent_is_shown(page: Page, server: RecordingServer) -> None:
    """The check and a conversion are told, with what was sent and what came back."""
    said = listen(page)
    visit(page, server, options=DEBUG)
    page.evaluate(CONVERSION)
    assert heard(page, said).count("Sent:") == 2


def test_waiting_for_consent_is_told(page: Page, server: RecordingServer) -> None:
    """Before consent the console says what the SDK waits for."""
    said = listen(page)
    visit(page, server, options=f"{DEBUG}, consentMode: 'required'")
    assert "Nothing sent: waiting for grantConsent" in heard(page, said)
    assert server.requests == []


def test_an_iframe_is_told(page: Page, server: RecordingServer) -> None:
    """In an iframe without allowIframe the console names the option."""
    page.goto(server.url())
    said = listen(page)
    page.evaluate(
        "() => new Promise(done => { const f = document.createElement('iframe'); f.onload = done;"
        "f.src = '/frame'; document.body.append(f) })"
    )
    page.frames[1].evaluate("Waylink.init({apiKey: 'k', debug: true})")
    assert "without allowIframe" in heard(page, said)


@pytest.mark.parametrize("status", [401, 429, 503])
def test_a_refusal_is_not_called_sent(page: Page, server: RecordingServer, status: int) -> None:
    """What the service does not take is told as refused, and what becomes of it."""
    server.answer = refuse(status)
    said = listen(page)
    visit(page, server, options=DEBUG)
    told = heard(page, said)
    assert "Refused (429 and 5xx: sent again later):" in told
    assert "Sent:" not in told


def test_no_answer_is_told(page: Page, server: RecordingServer) -> None:
    """Where nobody answers, the console names the usual causes."""
    said = listen(page)
    visit(page, server, options=f"{DEBUG}, baseUrl: 'http://127.0.0.1:1'")
    assert "No answer, sent again later (offline, blocked, origin not allowed?):" in heard(page, said)


def test_without_debug_the_sdk_is_silent(page: Page, server: RecordingServer) -> None:
    """Not a word without the option."""
    said = listen(page)
    visit(page, server)
    for action, _ in TOLD.values():
        page.evaluate(f"{action}; 0")
    assert heard(page, said) == ""
