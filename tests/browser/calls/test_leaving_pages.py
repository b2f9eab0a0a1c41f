"""Pages that are left hand over what waits; one that comes back from the back/forward cache goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserType, Page

from tests.browser.conftest import LaunchArguments
from tests.browser.recording_server import Answer, Call, RecordingServer, acknowledge, once, refuse
from tests.browser.shop_pages import CONVERSION, INIT, device_cookie, expect_sent, stored, visit
from tests.browser_setup import find_chromium
from tests.polling import wait_for

VISITORS = 4  # with fewer, chance alone would have one page in five end unheard now and then
RESTORED = "addEventListener('pageshow', event => window.restored = event.persisted); 0"


@pytest.fixture(scope="module")
def caching_window(browser_type: BrowserType, browser_type_launch_args: LaunchArguments) -> Iterator[Page]:
    """A page in a whole Chromium with the back/forward cache, which Playwright switches off otherwise."""
    arguments = browser_type_launch_args | {"executable_path": find_chromium()}
    without = ["--disable-back-forward-cache"]
    with browser_type.launch(**arguments, ignore_default_args=without) as browser:
        yield browser.new_page()


@pytest.fixture
def caching_page(caching_window: Page) -> Page:
    """It, of somebody who was never here before."""
    caching_window.goto("about:blank")
    caching_window.context.clear_cookies()
    return caching_window


def leave_and_return(page: Page, server: RecordingServer) -> None:
    """Go to a page without the SDK, and back to one that the browser has kept."""
    page.evaluate(RESTORED)
    page.goto(server.url("/index.html", "other.test"))
    page.evaluate("setTimeout(() => history.back()); 0")  # later, so that it does not end the call itself
    page.wait_for_function("window.restored === true")


@dataclass
class Visitors:
    """Who left a page in the tests of this file, and whose page the browser ended without telling it."""

    left: int = 0
    unheard: int = 0


@pytest.fixture(scope="module")
def visitors() -> Iterator[Visitors]:
    """The count of all tests of the file; more than one page in five ended unheard is too many."""
    visitors = Visitors()
    yield visitors
    assert visitors.unheard * 5 <= visitors.left, f"too many pages ended unheard: {visitors}"


@dataclass(frozen=True, slots=True)
class Leaver:
    """A visitor who leaves a page of a site that nobody else visits, and of which nothing is stored.

    Browsers may hand over a request again, long after its page has gone: it must count for no other visitor.
    """

    page: Page
    server: RecordingServer
    number: int

    @property
    def host(self) -> str:
        """The name of the site."""
        return f"left-{self.number}.test"

    @property
    def path(self) -> str:
        """The path of the page."""
        return f"/left-{self.number}"

    @property
    def listener(self) -> str:
        """A script that tells the server when the page hears, after the SDK, that it is left."""
        return f"addEventListener('pagehide', () => {{ fetch('{self.path}/heard', {{keepalive: true}}) }})"

    @property
    def was_heard(self) -> bool:
        """Whether the page heard that it was left."""
        return f"{self.path}/heard" in self.server.visits

    @property
    def calls(self) -> dict[str, Call]:
        """What arrived of this visitor by kind, in the order in which it was made."""
        own = [call for call in self.server.calls if urlsplit(call["page"]).path == self.path]
        return {call["kind"]: call for call in sorted(own, key=lambda call: str(call["occurred_at"]))}

    def wait_for(self, *kinds: str) -> None:
        """Return once calls of these kinds have arrived, in any order: their requests may pass each other."""
        wait_for(lambda: self.calls, "only these arrived", lambda calls: set(kinds) <= set(calls))


@dataclass(frozen=True, slots=True)
class HandOver:
    """Visitors who leave a page for another site, one after the other."""

    page: Page
    server: RecordingServer
    visitors: Visitors

    def __call__(self, leave: Callable[[Leaver], None], *kinds: str) -> list[dict[str, Call]]:
        """Let VISITORS leave: calls of these kinds must arrive from each page that heard that it was left.

        Gives what arrived of each. Browsers on a loaded machine end some pages unheard, which no script
        could help; then another visitor comes instead.
        """
        arrived: list[dict[str, Call]] = []
        tries = 0
        while len(arrived) < VISITORS:
            assert tries < 3 * VISITORS, "the browser ends nearly every page unheard"
            tries += 1
            self.visitors.left += 1
            leaver = Leaver(self.page, self.server, tries)
            leave(leaver)
            self.page.wait_for_url("**/next")
            try:
                leaver.wait_for(*kinds)
                arrived.append(leaver.calls)
            except AssertionError:
                if leaver.was_heard:
                    raise
                self.visitors.unheard += 1
        return arrived


@pytest.fixture
def hand_over(page: Page, server: RecordingServer, visitors: Visitors) -> HandOver:
    """Lets visitors leave a page, and sees what arrives."""
    return HandOver(page, server, visitors)


def test_a_restored_page_goes_on(caching_page: Page, server: RecordingServer) -> None:
    """The SDK keeps no page out of the cache. Must not arrive: a second check. Must: calls made after it."""
    visit(caching_page, server, "/?utm_source=news")
    leave_and_return(caching_page, server)
    assert caching_page.evaluate("Waylink.getAttribution()")["utm_source"] == "news"
    caching_page.evaluate(CONVERSION)
    expect_sent(caching_page, server, "attribution", "conversion")


def test_a_restored_page_sends_what_is_left(caching_page: Page, server: RecordingServer) -> None:
    """Must arrive again: what failed before the page was left, with its call_id."""
    visit(caching_page, server)
    server.answer = refuse(503)
    caching_page.evaluate(CONVERSION)
    server.answer = acknowledge
    leave_and_return(caching_page, server)
    # On a busy machine the page may have tried a second time before it was left.
    _, *tries = server.wait_for(3)
    assert {attempt["call_id"] for attempt in tries} == {tries[0]["call_id"]}


@pytest.mark.parametrize("subdomain", ["", "privacy."])
def test_a_restored_page_has_not_missed_a_withdrawal(
    caching_page: Page, server: RecordingServer, subdomain: str
) -> None:
    """Must not arrive: a call of a page that the browser had kept while a later one of its tab withdrew."""
    visit(caching_page, server)
    caching_page.evaluate(RESTORED)
    caching_page.goto(server.url("/privacy", subdomain + server.host))
    caching_page.evaluate(f"{INIT}.then(() => Waylink.denyConsent())")
    caching_page.evaluate("setTimeout(() => history.back()); 0")
    caching_page.wait_for_function("window.restored === true")
    assert caching_page.evaluate(f"{CONVERSION}.then((outcome) => outcome === undefined)")
    assert stored(caching_page) == []
    assert server.kinds == ["attribution"]


def test_a_device_that_is_gone_is_no_withdrawal(caching_page: Page, server: RecordingServer) -> None:
    """A page that the browser had kept begins anew where its cookie was deleted, such as at a log-out."""
    visit(caching_page, server)
    caching_page.evaluate(f"Waylink.identify({{customer_id: 'ada'}}); {RESTORED}")
    before = device_cookie(caching_page)["value"]
    caching_page.goto(server.url("/log-out"))
    caching_page.context.clear_cookies()
    caching_page.evaluate("setTimeout(() => history.back()); 0")
    caching_page.wait_for_function("window.restored === true")
    assert caching_page.evaluate(f"{CONVERSION}.then((outcome) => outcome.status)") == "accepted"
    sale = next(request["batch"] for request in server.requests if "conversion" in str(request["batch"]))
    assert sale["device_id"] == device_cookie(caching_page)["value"] != before
    assert not sale["calls"][-1].get("customer_id")


@pytest.mark.parametrize("listener", ["0", "addEventListener('pagehide', () => 0)"])
def test_what_waits_for_the_first_answer_goes_when_the_page_does(
    hand_over: HandOver, server: RecordingServer, listener: str
) -> None:
    """Must arrive although the check is never answered: what was tracked meanwhile.

    The browser ends the check's request; behind a listener of the page's own, the SDK hears of that first.
    """
    answered = threading.Event()

    def leave(leaver: Leaver) -> None:
        leaver.page.goto(server.url(leaver.path, leaver.host))
        leaver.page.evaluate(
            f"{listener}; {INIT}; {leaver.listener}; {CONVERSION}; Waylink.trackEvent('a'); 0"
        )
        leaver.wait_for("attribution")
        leaver.page.goto(server.url("/next", "other.test"))

    server.answer = once(answered, acknowledge)
    hand_over(leave, "attribution", "conversion", "event")
    answered.set()


def test_a_page_that_is_left_at_once(hand_over: HandOver, server: RecordingServer) -> None:
    """Must arrive, with times in their order: calls made in the same task in which the page is left."""
    address = server.url("/next", "other.test")

    def leave(leaver: Leaver) -> None:
        visit(leaver.page, server, leaver.path, host=leaver.host)
        leaver.page.evaluate(
            f"{leaver.listener}; {CONVERSION}; Waylink.trackEvent('a'); location.href = '{address}'; 0"
        )

    for calls in hand_over(leave, "attribution", "conversion", "event"):
        assert list(calls) == ["attribution", "conversion", "event"]


def test_a_page_that_is_left_in_the_task_of_init(hand_over: HandOver, server: RecordingServer) -> None:
    """Must arrive: the check and what was tracked, although the page goes before the SDK has begun."""
    address = server.url("/next", "other.test")

    def leave(leaver: Leaver) -> None:
        leaver.page.goto(server.url(f"{leaver.path}?utm_source=news", leaver.host))
        leaver.page.evaluate(
            f"{INIT}; {leaver.listener}; Waylink.trackEvent('a'); location.href = '{address}'; 0"
        )

    for calls in hand_over(leave, "attribution", "event"):
        assert calls["attribution"]["signals"] == {"utm_source": "news"}
        assert calls["event"]["name"] == "a"


def test_a_page_that_is_left_without_consent(page: Page, server: RecordingServer) -> None:
    """Must not arrive, nor be stored: anything of a page that is left before grantConsent."""
    page.goto(server.url("/?utm_source=news"))
    init = INIT.replace("apiKey", "consentMode: 'required', apiKey")
    page.evaluate(f"{init}; Waylink.trackEvent('a'); 0")
    page.evaluate("dispatchEvent(new Event('pagehide')); dispatchEvent(new Event('pageshow'))")
    assert stored(page) == []
    page.goto(server.url("/later"))
    visit(page, server)
    server.wait_for(1)
    assert "event" not in server.kinds


def test_a_hidden_page_hands_over_what_waits(page: Page, server: RecordingServer) -> None:
    """Must arrive although the check is not answered: what was tracked, once the page is hidden."""
    answered = threading.Event()

    def late(batch: Call) -> Answer:
        if batch["calls"][0]["kind"] == "attribution":
            answered.wait(20)
        return acknowledge(batch)

    server.answer = late
    page.goto(server.url("/"))
    page.evaluate(f"{INIT}; window.made = {CONVERSION}; 0")
    server.wait_for(1)
    page.evaluate("document.dispatchEvent(new Event('visibilitychange', {bubbles: true}))")
    # Before the check is given up, after ten seconds.
    wait_for(lambda: server.kinds, "it is not sent", lambda kinds: "conversion" in kinds, seconds=8)
    answered.set()
    page.evaluate("made")
