"""Pages that are left hand over what waits; one that comes back from the back/forward cache goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, BrowserType, Page

from tests.browser.conftest import LaunchArguments
from tests.browser.recording_server import Answer, Call, RecordingServer, acknowledge, once, refuse
from tests.browser.shop_pages import CONVERSION, INIT, expect_sent, stored, visit
from tests.browser_setup import find_chromium

VISITORS = 2
HEARD_PATH = "/heard"
HEARD = f"addEventListener('pagehide', () => {{ fetch('{HEARD_PATH}', {{keepalive: true}}) }})"
RESTORED = "addEventListener('pageshow', event => window.restored = event.persisted); 0"


@pytest.fixture
def caching_page(browser_type: BrowserType, browser_type_launch_args: LaunchArguments) -> Iterator[Page]:
    """A page in a whole Chromium with the back/forward cache, which Playwright switches off otherwise."""
    arguments = browser_type_launch_args | {"executable_path": find_chromium()}
    without = ["--disable-back-forward-cache"]
    with browser_type.launch(**arguments, ignore_default_args=without) as browser:
        yield browser.new_page()


def leave_and_return(page: Page, server: RecordingServer) -> None:
    """Go to a page without the SDK, and back to one that the browser has kept."""
    page.evaluate(RESTORED)
    page.goto(server.url("/index.html", "other.test"))
    page.evaluate("setTimeout(() => history.back()); 0")  # later, so that it does not end the call itself
    page.wait_for_function("window.restored === true")


def arrived(server: RecordingServer) -> list[Call]:
    """Each call once, as they were made; those of a request that the browser ended come again."""
    calls = {call["call_id"]: call for call in server.calls}
    return sorted(calls.values(), key=lambda call: str(call["occurred_at"]))


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
class HandOver:
    """Visitors who leave a page for another site, one after the other."""

    browser: Browser
    server: RecordingServer
    visitors: Visitors

    def __call__(self, leave: Callable[[Page], None], *kinds: str) -> None:
        """Let VISITORS leave: calls of these kinds must arrive from each page that heard that it was left.

        Browsers on a loaded machine end some pages unheard, which no script could help; then another visitor
        comes instead. A listener behind the SDK's says whether the page has heard.
        """
        tries = heard = 0
        while heard < VISITORS:
            assert tries < 3 * VISITORS, "the browser ends nearly every page unheard"
            tries += 1
            self.visitors.left += 1
            heard += self._hears(leave, kinds)

    def _hears(self, leave: Callable[[Page], None], kinds: tuple[str, ...]) -> bool:
        """Whether the page heard that it was left, and handed over what it had."""
        self.server.requests.clear()
        self.server.visits.clear()
        with self.browser.new_context() as visitor:
            leave(visitor.new_page())
            try:
                self.server.wait_for_kinds(*kinds)
            except AssertionError:
                if HEARD_PATH in self.server.visits:
                    raise
                self.visitors.unheard += 1
                return False
        return True


@pytest.fixture
def hand_over(browser: Browser, server: RecordingServer, visitors: Visitors) -> HandOver:
    """Lets visitors leave a page, and sees what arrives."""
    return HandOver(browser, server, visitors)


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
    first, second = server.wait_for(3)[1:]
    assert first["call_id"] == second["call_id"]


@pytest.mark.parametrize("listener", ["0", "addEventListener('pagehide', () => 0)"])
def test_what_waits_for_the_first_answer_goes_when_the_page_does(
    hand_over: HandOver, server: RecordingServer, listener: str
) -> None:
    """Must arrive although the check is never answered: what was tracked meanwhile.

    The browser ends the check's request; behind a listener of the page's own, the SDK hears of that first.
    """
    answered = threading.Event()

    def leave(page: Page) -> None:
        page.goto(server.url("/"))
        page.evaluate(f"{listener}; {INIT}; {HEARD}; {CONVERSION}; Waylink.trackEvent('a'); 0")
        server.wait_for(1)
        page.goto(server.url("/next", "other.test"))

    server.answer = once(answered, acknowledge)
    hand_over(leave, "attribution", "conversion", "event")
    answered.set()


def test_a_page_that_is_left_at_once(hand_over: HandOver, server: RecordingServer) -> None:
    """Must arrive: calls made in the same task in which the page is left.

    They may travel in requests of their own, which may pass each other.
    """
    address = server.url("/next", "other.test")

    def leave(page: Page) -> None:
        visit(page, server)
        page.evaluate(f"{HEARD}; {CONVERSION}; Waylink.trackEvent('a'); location.href = '{address}'; 0")

    hand_over(leave, "attribution", "conversion", "event")
    assert [call["kind"] for call in arrived(server)] == ["attribution", "conversion", "event"]


def test_a_page_that_is_left_in_the_task_of_init(hand_over: HandOver, server: RecordingServer) -> None:
    """Must arrive: the check and what was tracked, although the page goes before the SDK has begun."""
    address = server.url("/next", "other.test")

    def leave(page: Page) -> None:
        page.goto(server.url("/?utm_source=news"))
        page.evaluate(f"{INIT}; {HEARD}; Waylink.trackEvent('a'); location.href = '{address}'; 0")

    hand_over(leave, "attribution", "event")
    check, event = arrived(server)
    assert check["signals"] == {"utm_source": "news"}
    assert event["name"] == "a"


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
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.evaluate("made")
    server.wait_for_kinds("conversion")
    answered.set()
