"""The snippet of docs/sdk.md: small, and it keeps calls until the script has loaded."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser.recording_server import RecordingServer
from tests.browser.visitor import Visitor, in_chromium

ROOT = Path(__file__).parents[3]


def snippet_in(page: Path) -> str:
    """The snippet on a page of documentation, or an empty text."""
    found = re.search(r"<!-- snippet -->\n```html\n(.*?)\n```", page.read_text(), re.DOTALL)
    return found[1] if found else ""


SNIPPET = snippet_in(ROOT / "docs" / "sdk.md")
POLICY = "default-src 'none'; script-src 'nonce-n' 'strict-dynamic'; connect-src 'self'; img-src data:;"


def test_the_snippet_is_small() -> None:
    """It has fewer than 700 bytes."""
    assert 0 < len(SNIPPET.encode()) < 700


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


NOWHERE = "http://127.0.0.1:1"  # where no browser gets an answer
CALLS = """window.made = [Waylink.init({apiKey: 'c_web_test'}), Waylink.trackLead(),
  Waylink.trackEvent('early'), Waylink.trackConversion({revenue: 1, currency: 'EUR'}),
  Waylink.whenAttributed(), Waylink.flush()]"""
SETTLED = [*[{"status": "not_loaded"}] * 4, None, 6]
# What the promises that the page got have given by now; `open` for those that wait.
STATES = """Promise.all(made.map((promise) =>
  Promise.race([promise, new Promise((resolve) => setTimeout(resolve, 50, 'open'))])))"""
# `pass` is what would run after the snippet's ten seconds.
HOLD_TIMER = """const own = setTimeout;
  setTimeout = (run, ms, ...all) => ms == 1e4 && !window.pass ? (window.pass = run) : own(run, ms, ...all)"""
LOAD = """new Promise((loaded) => {
  const script = document.head.appendChild(document.createElement('script'));
  script.onload = () => loaded();
  script.src = '/waylink.js';
})"""


def open_with(visitor: Visitor, tag: str, before: str = "") -> None:
    """Open a page with the snippet and this tag behind it, which has called at once."""
    fresh = f"<script>delete window.Waylink; {before}</script>"
    visitor.server.head = f"{fresh}{SNIPPET}{tag}<script>{CALLS}</script>"
    visitor.open()


def test_a_script_that_can_not_be_loaded_keeps_nobody_waiting(visitor: Visitor) -> None:
    """By its name, or right behind the snippet, whatever its name: promises say so at once. If the script
    comes later, the calls are made all the same, and none twice."""
    for tag in (
        f"<script async src={NOWHERE}/waylink.js></script>",
        f"<script src={NOWHERE}/a/hi.js></script>",
    ):
        open_with(visitor, tag, HOLD_TIMER)
        assert visitor.js("Promise.all(made)") == SETTLED
        assert visitor.js("Waylink.trackEvent('late')") == {"status": "not_loaded"}
    visitor.js(LOAD)
    visitor.server.wait_for_kinds("lead", "conversion")
    visitor.expect("attribution", "lead", "early", "conversion", "late")


def test_a_script_that_does_not_come_keeps_nobody_waiting(visitor: Visitor) -> None:
    """After ten seconds the promises say so, also those of later calls; the script of others settles none."""
    open_with(visitor, f"<i></i><script src={NOWHERE}/ads.js></script>", HOLD_TIMER)
    assert visitor.js(STATES) == ["open"] * 6
    visitor.js("pass()")
    assert visitor.js("Promise.all(made)") == SETTLED
    assert visitor.js("Waylink.trackEvent('late')") == {"status": "not_loaded"}


@in_chromium
def test_a_part_that_can_not_be_loaded_settles_nothing(visitor: Visitor) -> None:
    """The script itself may still come, and its promises are what the page gets."""
    names = ("links", "domains", "privacy")
    parts = "".join(f"<script src={NOWHERE}/waylink-{name}.js></script>" for name in names)
    open_with(visitor, f"<i></i>{parts}", HOLD_TIMER)
    assert visitor.js(STATES) == ["open"] * 6
    visitor.js(LOAD)
    assert visitor.js("made[1]")["status"] == "accepted"


@in_chromium
@pytest.mark.parametrize("name", ["waylink.js?ver=2", "a/waylink-0123456789ab.js"])
def test_names_of_the_script(visitor: Visitor, name: str) -> None:
    """Wherever its tag stands, the script is known by its name and by that of its build."""
    open_with(visitor, f"<i></i><script src={NOWHERE}/{name}></script>", HOLD_TIMER)
    assert visitor.js("Promise.all(made)") == SETTLED


@in_chromium
def test_a_part_before_the_snippet(visitor: Visitor) -> None:
    """Must not be lost: a part that a cache or a tag manager brings before the snippet runs."""
    part = '<script src="/waylink-links.js" data-outbound-links></script>'
    fresh = "<script>delete window.Waylink</script>"
    visitor.server.head = f"{fresh}{part}{SNIPPET}<script src=/waylink.js></script>"
    visitor.open()
    visitor.js("Waylink.init({apiKey: 'c_web_test'})")
    visitor.js("void document.body.insertAdjacentHTML('beforeend', '<a class=it href=mailto:a@b.test>x</a>')")
    visitor.tab.click(".it")
    visitor.server.wait_for_kinds("event")
    assert visitor.server.calls[-1]["name"] == "email_click"


@in_chromium
def test_ten_seconds_are_not_counted_once_the_script_is_there(visitor: Visitor) -> None:
    """A promise of the script's is what the page has, however long that takes."""
    open_with(visitor, "", HOLD_TIMER)
    visitor.js("void (window.fetch = () => new Promise(() => 0))")
    visitor.js(LOAD)
    visitor.js("pass()")
    assert visitor.js(STATES)[:4] == ["open"] * 4


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
