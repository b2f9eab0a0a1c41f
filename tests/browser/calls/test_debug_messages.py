"""With `debug`, the console says what happens and why nothing happens, in words of a site owner."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page

from tests.browser.recording_server import SDK, RecordingServer, refuse
from tests.browser.shop_pages import CONVERSION, visit
from tests.polling import wait_for

CODES = "debug: true"
DEBUG = f"debug: {(SDK / 'waylink.json').read_text()}"  # with sentences
TOLD = {
    "a known device": (
        "Waylink.trackPageView()",
        "Nothing sent: no signal in address, or checked before in this tab",
    ),
    "a second init": ("Waylink.init({apiKey: 'k'})", "init ignored: called before"),
    "a wrong identity": ("Waylink.identify({})", "identify ignored: TypeError: Waylink: customer_id"),
    "e-mail on http": (
        "Waylink.trackLead({email: 'a@b.example'})",
        "email not sent: hashing needs https",
    ),
    "withdrawn consent": (
        "Waylink.denyConsent()",
        "Nothing sent: no consent, stored data deleted",
    ),
}


def heard(page: Page, said: list[str]) -> str:
    """All that the SDK said; the page has been asked once more, so that nothing is on its way."""
    page.evaluate("0")
    return "\n".join(text for text in said if text.startswith("Waylink "))


def expect_told(page: Page, said: list[str], reason: str) -> None:
    """Something that matches `reason` is said."""
    wait_for(lambda: heard(page, said), "not told", lambda told: bool(re.search(reason, told)))


def test_the_reasons_are_told(page: Page, said: list[str], server: RecordingServer) -> None:
    """Where nothing is sent, or not all of it, the console says why."""
    visit(page, server, options=DEBUG)
    for action, reason in TOLD.values():
        assert not re.search(reason, heard(page, said))
        page.evaluate(f"{action}; 0")
        expect_told(page, said, reason)


def test_what_is_sent_is_shown(page: Page, said: list[str], server: RecordingServer) -> None:
    """The check and a conversion are told, with what was sent and what came back."""
    visit(page, server, options=DEBUG)
    page.evaluate(CONVERSION)
    expect_told(page, said, r"Sent:[^$]*Sent:")


def test_waiting_for_consent_is_told(page: Page, said: list[str], server: RecordingServer) -> None:
    """Before consent the console says what the SDK waits for."""
    visit(page, server, options=f"{DEBUG}, consentMode: 'required'")
    expect_told(page, said, "Nothing sent: waiting for grantConsent")
    assert server.requests == []


def test_an_iframe_is_told(page: Page, said: list[str], server: RecordingServer) -> None:
    """In an iframe without allowIframe, the console says so."""
    page.goto(server.url())
    page.evaluate(
        "() => new Promise(done => { const f = document.createElement('iframe'); f.onload = done;"
        "f.src = '/frame'; document.body.append(f) })"
    )
    page.frames[1].evaluate("Waylink.init({apiKey: 'k', debug: true})")
    expect_told(page, said, "Waylink iframe")


@pytest.mark.parametrize("status", [401, 429, 503])
def test_a_refusal_is_not_called_sent(
    page: Page, said: list[str], server: RecordingServer, status: int
) -> None:
    """What the service does not take is told as refused, and what becomes of it."""
    server.answer = refuse(status)
    visit(page, server, options=DEBUG)
    expect_told(page, said, re.escape("Refused (429, 5xx or not by the service: sent again later):"))
    assert "Sent:" not in heard(page, said)


def test_no_answer_is_told(page: Page, said: list[str], server: RecordingServer) -> None:
    """Where nobody answers, the console names the usual causes."""
    visit(page, server, options=f"{DEBUG}, baseUrl: 'http://127.0.0.1:1'")
    expect_told(page, said, re.escape("No answer, sent again later (offline, blocked, origin not allowed?):"))


def test_without_debug_the_sdk_is_silent(page: Page, said: list[str], server: RecordingServer) -> None:
    """Not a word without the option."""
    visit(page, server)
    for name, (action, _) in TOLD.items():
        if name == "a wrong identity":
            continue  # would be lost in silence
        page.evaluate(f"{action}; 0")
    assert heard(page, said) == ""


def test_without_sentences_the_codes_are_said(page: Page, said: list[str], server: RecordingServer) -> None:
    """With `debug: true`, the console has the codes that docs/sdk.md lists, and nothing is loaded for it."""
    visit(page, server, options=CODES)
    expect_told(page, said, r"Waylink accepted")
    assert "/waylink.json" not in server.visits


def test_every_code_has_a_sentence_and_is_documented() -> None:
    """What the sources say by code is a sentence of the file, and a line of docs/sdk.md."""
    root = SDK.parent
    sources = "".join(path.read_text() for path in (root / "sdk_src").glob("*.py"))
    said = {
        code for call in re.findall(r"(?:say|note)\((.*)\)", sources) for code in re.findall(r"'(\w+)'", call)
    }
    said |= {"accepted", "rejected", "refused", "offline", "email", "phone", "error", "notes"}
    sentences = json.loads((SDK / "waylink.json").read_text())
    assert set(sentences) == said
    docs = (root / "docs" / "sdk.md").read_text()
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", docs, re.MULTILINE))
    assert {code: rows.get(code) for code in said} == sentences
