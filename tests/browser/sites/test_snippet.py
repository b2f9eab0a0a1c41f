"""The snippet of docs/sdk.md: small, and it keeps calls until the script has loaded."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page

from tests.browser.recording_server import RecordingServer

ROOT = Path(__file__).parents[3]


def snippet_in(page: Path) -> str:
    """The snippet on a page of documentation, or an empty text."""
    found = re.search(r"<!-- snippet -->\n```html\n(.*?)\n```", page.read_text(), re.DOTALL)
    return found[1] if found else ""


SNIPPET = snippet_in(ROOT / "docs" / "sdk.md")
POLICY = "default-src 'none'; script-src 'nonce-n' 'strict-dynamic'; connect-src 'self'; img-src data:;"


def test_the_snippet_is_small() -> None:
    """It has fewer than 420 bytes."""
    assert 0 < len(SNIPPET.encode()) < 420


def test_all_others_have_the_same() -> None:
    """The package's README and the integrations carry the snippet that is tested here (else: `make sdk`)."""
    assert snippet_in(ROOT / "sdk_dist" / "README.md") == SNIPPET
    assert SNIPPET in (ROOT / "integrations" / "shopify" / "waylink.liquid").read_text()
    code = (ROOT / "integrations" / "wordpress" / "waylink" / "snippet.js").read_text()
    assert f"<script>\n{code}</script>" == SNIPPET


def test_calls_before_the_script_has_loaded(page: Page, server: RecordingServer) -> None:
    """Word for word from the docs: calls are carried out in order, and their promises resolve."""
    page.route("**/waylink.js", lambda route: route.fulfill(body="", content_type="text/javascript"))
    page.goto(server.url())
    page.unroute("**/waylink.js")
    page.evaluate("code => { (0, eval)(code) }", re.sub(r"</?script>", "", SNIPPET))
    page.evaluate(
        "window.made = [Waylink.trackEvent('a'), Waylink.init({apiKey: 'k'}),"
        " Waylink.trackConversion({revenue: 1, currency: 'EUR'})]; 0"
    )
    assert page.evaluate("[Waylink.getAttribution(), Waylink.hasConsent()]") == [None, False]
    page.evaluate("window.context = Waylink.whenAttributed(); 0")
    page.add_script_tag(url="/waylink.js")
    page.evaluate("Promise.all(made)")
    assert page.evaluate("context") is None
    assert server.kinds == ["attribution", "event", "conversion"]


def test_what_is_no_call_stops_no_other(page: Page, said: list[str], server: RecordingServer) -> None:
    """A name in the queue that this script does not know is told; the calls behind it are carried out."""
    page.goto(server.url())
    code = re.sub(r"</?script>", "", SNIPPET)
    page.evaluate("code => { delete window.Waylink; (0, eval)(code) }", code)
    page.evaluate("Waylink.q.push(['trackAll', [], () => 0], ['identify', null, () => 0]); 0")
    page.evaluate("window.made = [Waylink.init({apiKey: 'k'}), Waylink.trackEvent('a')]; 0")
    page.add_script_tag(url="/waylink.js")
    page.evaluate("Promise.all(made)")
    assert server.kinds == ["attribution", "event"]
    assert said == ["Waylink unknown trackAll", "Waylink unknown identify"]


def test_a_strict_content_security_policy(page: Page, said: list[str], server: RecordingServer) -> None:
    """Nonce, strict-dynamic and Trusted Types: the script starts, sends, and violates nothing."""
    policy = POLICY + " require-trusted-types-for 'script'"
    server.head = (
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<script nonce="n">delete window.Waylink</script>'
        '<script nonce="n" src="/waylink.js"></script>'
        "<script nonce=\"n\">Waylink.init({apiKey: 'k'}); Waylink.trackEvent('a')</script>"
    )
    page.goto(server.url("/strict"))
    server.wait_for(2)
    page.evaluate("0")
    assert (server.kinds, said) == (["attribution", "event"], [])
