"""With `debug`, the console says what happens and why nothing happens, in words of a site owner."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page

from tests.browser.recording_server import SDK, RecordingServer, refuse
from tests.browser.shop_pages import CONVERSION, INIT, visit
from tests.polling import wait_for

DEBUG = "debug: true"
TOLD = {
    "a known device": (
        "Waylink.trackPageView()",
        "Nothing sent: no signal in address",
    ),
    "an address twice": (
        "history.pushState(null, '', '/?gclid=1'); history.pushState(null, '', '/?gclid=1')",
        "Nothing sent: address checked before in this tab",
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
    """Something that matches `reason` is said, once the file of sentences has come."""
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
    """Before consent the console says what the SDK waits for, by its code."""
    visit(page, server, options=f"{DEBUG}, consentMode: 'required'")
    expect_told(page, said, "Waylink grantConsent")
    assert server.requests == []


def test_the_sentences_come_after_consent(page: Page, said: list[str], server: RecordingServer) -> None:
    """Before consent nothing is loaded, not even the sentences; with it they are, and the SDK speaks."""
    visit(page, server, options=f"{DEBUG}, consentMode: 'required'")
    page.evaluate(f"fetch('/asked'); {CONVERSION}; 0")
    server.wait_for_visit("/asked")
    assert "/waylink.json" not in server.visits
    page.evaluate("Waylink.grantConsent()")
    expect_told(page, said, "Sent:")
    assert "/waylink.json" in server.visits


def test_an_iframe_is_told(page: Page, said: list[str], server: RecordingServer) -> None:
    """In an iframe without allowIframe, where nothing is loaded, the console has the code."""
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
    assert "/waylink.json" not in server.visits


def test_without_the_file_the_codes_are_said(page: Page, said: list[str], server: RecordingServer) -> None:
    """Where the sentences can't be had, the console has the codes that docs/sdk.md lists."""
    page.route("**/waylink.json", lambda route: route.abort())
    visit(page, server, options=DEBUG)
    expect_told(page, said, r"Waylink accepted")


def test_the_file_lies_beside_the_script(page: Page, server: RecordingServer) -> None:
    """The sentences come from where the script came from, whatever its name, and wherever the calls go."""
    server.head = "<script>delete window.Waylink</script><script src='/sub/hello.js?v=2'></script>"
    page.route("**/sub/hello.js?v=2", lambda route: route.fulfill(path=SDK / "waylink.js"))
    page.goto(server.url())
    page.evaluate(INIT.replace("apiKey", "debug: true, baseUrl: '/', apiKey"))
    server.wait_for_visit("/sub/hello.json")


def test_a_strict_policy_lets_the_sentences_in(page: Page, said: list[str], server: RecordingServer) -> None:
    """With a nonce, strict-dynamic and Trusted Types, `debug` speaks and nothing is violated."""
    policy = (
        "default-src 'none'; script-src 'nonce-n' 'strict-dynamic'; connect-src 'self'; img-src data:; "
        "require-trusted-types-for 'script'"
    )
    server.head = (
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<script nonce="n">delete window.Waylink</script><script nonce="n" src="/waylink.js"></script>'
        "<script nonce=\"n\">Waylink.init({apiKey: 'k', debug: true})</script>"
    )
    page.goto(server.url("/strict"))
    expect_told(page, said, "Sent:")
    assert all(text.startswith("Waylink ") for text in said)


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
