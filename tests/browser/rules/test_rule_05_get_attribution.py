"""Rule 5: getAttribution gives null before init resolves and on organic traffic."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.browser.recording_server import RecordingServer, refuse
from tests.browser.shop_pages import INIT, expect_sent, visit

ATTRIBUTION = "Waylink.getAttribution()"


def test_null_before_init_resolves(page: Page, server: RecordingServer) -> None:
    """Null before init is called, and while it waits for the service; nothing is sent by asking."""
    page.goto(server.url("/?utm_source=news"))
    assert page.evaluate(ATTRIBUTION) is None
    assert page.evaluate(f"const started = {INIT}; {ATTRIBUTION}") is None
    server.wait_for(1)
    expect_sent(page, server, "attribution")


def test_null_on_a_later_page_until_init_resolves(page: Page, server: RecordingServer) -> None:
    """A context found earlier in the tab is not given before this page's init has resolved."""
    visit(page, server, "/?utm_source=news")
    page.goto(server.url("/next"))
    assert page.evaluate(ATTRIBUTION) is None
    page.evaluate(INIT)
    assert page.evaluate(ATTRIBUTION)["utm_source"] == "news"
    expect_sent(page, server, "attribution")


def test_null_on_organic_traffic(page: Page, server: RecordingServer) -> None:
    """Null for a visitor who came by no link and no ad."""
    visit(page, server)
    assert page.evaluate(ATTRIBUTION) is None
    expect_sent(page, server, "attribution")


def test_null_where_the_service_can_not_be_reached(page: Page, server: RecordingServer) -> None:
    """Init resolves without an answer, and nothing is guessed from the address."""
    server.answer = refuse(503)
    visit(page, server, "/?utm_source=news")
    assert page.evaluate(ATTRIBUTION) is None


@pytest.mark.parametrize("options", ["", "baseUrl: 'http://127.0.0.1:1'"])
def test_who_waits_learns_of_a_failure(page: Page, server: RecordingServer, options: str) -> None:
    """`whenAttributed` gives null once the first attempt has failed, on this page and on the next, during
    the pause; what comes later is `getAttribution`'s."""
    server.answer = refuse(503, Retry_After="600")
    for path in ("/?utm_source=news", "/next"):
        page.goto(server.url(path))
        page.evaluate("window.context = Waylink.whenAttributed(); 0")
        page.evaluate(f"Waylink.init({{apiKey: 'c_web_test', {options}}})")
        assert page.evaluate("context.then((found) => found === null)")


def test_the_context_has_the_contracts_seven_fields(page: Page, server: RecordingServer) -> None:
    """What the service answered: six texts or nulls, and custom_data."""
    visit(page, server, "/?cl_link_id=L1&utm_source=news&gclid=G")
    assert page.evaluate(ATTRIBUTION) == {
        "cl_link_id": "L1",
        "utm_source": "news",
        "utm_medium": None,
        "utm_campaign": None,
        "utm_term": None,
        "utm_content": None,
        "custom_data": None,
    }


def test_the_context_stays_in_the_tab_and_the_latest_wins(page: Page, server: RecordingServer) -> None:
    """On a page without a signal the earlier context holds; a page with one replaces it."""
    visit(page, server, "/?cl_link_id=L1")
    visit(page, server, "/checkout")
    assert page.evaluate(ATTRIBUTION)["cl_link_id"] == "L1"
    visit(page, server, "/?cl_link_id=L2")
    assert page.evaluate(ATTRIBUTION)["cl_link_id"] == "L2"
    expect_sent(page, server, "attribution", "attribution")


def test_another_tab_is_organic(page: Page, server: RecordingServer) -> None:
    """The context is the tab session's: a tab opened by hand has none."""
    visit(page, server, "/?cl_link_id=L1")
    tab = page.context.new_page()
    visit(tab, server)
    assert tab.evaluate(ATTRIBUTION) is None
    expect_sent(tab, server, "attribution")
