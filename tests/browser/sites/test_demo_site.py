"""The demo shop in a real browser: what it reports, and what its panel shows of that.

The service's part is played by a server that records, so that a test can say how it answers; the whole way
through the real service has a test of its own.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Locator, Page, ViewportSize, expect

from demo_site.app import DemoSite
from tests.browser.demo_shop import bound_port, demo_shop, order
from tests.browser.recording_server import RecordingServer, acknowledge, recording_server, refuse
from tests.polling import wait_for

LINK_ID = "3f0c9a52-6f5e-4d1c-9a59-0f6b1d3c2e11"
BY_LINK = f"/?cl_link_id={LINK_ID}&utm_source=newsletter&utm_campaign=fair-wind"
PHONE: ViewportSize = {"width": 390, "height": 844}


@dataclass(frozen=True, slots=True)
class Shop:
    """The shop, and the server that records what it reports."""

    address: str
    service: RecordingServer


@pytest.fixture(scope="module")
def running() -> Iterator[Shop]:
    """A shop that reports to a recording server."""
    bound, port = bound_port()
    with recording_server() as service:
        config = DemoSite(
            f"http://localhost:{service.port}", "c_web_test", f"http://localhost:{port}{BY_LINK}"
        )
        with demo_shop(config, bound):
            yield Shop(f"localhost:{port}", service)


@pytest.fixture
def shop(running: Shop) -> Shop:
    """The shop under a name that no page was stored of, with nothing recorded and a service that accepts."""
    running.service.requests.clear()
    running.service.answer = acknowledge
    return Shop(f"http://shop-{uuid.uuid4().hex[:12]}.{running.address}", running.service)


@pytest.fixture(autouse=True)
def no_errors(faults: list[str], said: list[str]) -> Iterator[None]:
    """No page breaks: no uncaught error, and nothing that the Content-Security-Policy had to stop."""
    yield
    assert faults == []
    assert not [text for text in said if "Content Security" in text]


@pytest.fixture
def phone(page: Page) -> Iterator[Page]:
    """The page, as large as a phone's."""
    usual = page.viewport_size
    page.set_viewport_size(PHONE)
    yield page
    assert usual
    page.set_viewport_size(usual)


def call_in_panel(page: Page, kind: str) -> Locator:
    """The newest call of this kind in the panel."""
    return page.locator(".call").filter(has=page.locator(".call-kind", has_text=kind)).first


def buy(page: Page, shop: Shop) -> None:
    """Open the page of a kite, put it in the basket, and order."""
    page.goto(f"{shop.address}/kites/kestrel")
    order(page)


def test_an_order(page: Page, shop: Shop) -> None:
    """Checkout identifies the customer, by hash, and reports revenue, currency, order number and product,
    once. The thank-you page can report again, with the same transaction id and a call id of its own, and its
    panel still has what this tab sent before, newest first."""
    buy(page, shop)
    shop.service.wait_for_kinds("attribution", "event", "identify", "conversion")
    calls = {call["kind"]: call for call in shop.service.calls}
    assert len(shop.service.calls) == len(calls) == 4
    assert calls["event"]["name"] == "add_to_cart"
    assert calls["event"]["product_id"] == "kestrel"
    assert "ada@example.org" not in str(shop.service.requests)
    assert calls["identify"]["email_sha256"]
    conversion = calls["conversion"]
    assert (conversion["revenue"], conversion["currency"], conversion["product_id"]) == (48, "EUR", "kestrel")
    assert conversion["transaction_id"] == page.locator("[data-order-number]").inner_text()
    assert conversion["customer_id"] == calls["identify"]["customer_id"]

    kinds = page.locator(".call-kind")
    expect(kinds.last).to_have_text("attribution")
    assert kinds.all_inner_texts().index("conversion") < kinds.all_inner_texts().index("event")
    expect(call_in_panel(page, "conversion")).to_contain_text("48 EUR")

    page.get_by_role("button", name="Report it again").click()

    def reported() -> dict[str, str]:
        sales = [call for call in shop.service.calls if call["kind"] == "conversion"]
        return {call["call_id"]: call["transaction_id"] for call in sales}

    numbers = wait_for(reported, "not reported twice", lambda found: len(found) == 2).values()
    assert set(numbers) == {conversion["transaction_id"]}


def test_a_newsletter_sign_up_is_a_lead(page: Page, shop: Shop) -> None:
    """The sign-up reports a lead with a hashed address; a slip of the pen reports nothing."""
    page.goto(shop.address)
    page.get_by_label("E-mail address").fill("ada@")
    page.get_by_role("button", name="Sign up").click()
    expect(page.locator("[data-newsletter-said]")).to_contain_text("does not look like")
    page.get_by_label("E-mail address").fill("Ada@Example.org")
    page.get_by_role("button", name="Sign up").click()
    expect(page.locator("[data-newsletter-said]")).to_contain_text("You are on the list")
    assert [call["kind"] for call in shop.service.wait_for(2)] == ["attribution", "lead"]
    assert re.fullmatch("[0-9a-f]{64}", shop.service.calls[1]["email_sha256"])


def test_who_follows_a_link(page: Page, shop: Shop) -> None:
    """A visitor of a link reads which one: id, campaign and source. The call stands in the panel with its
    kind, id, main fields and result, and the JSON behind it. Forget this device clears cookie and storage:
    the next visit is a first one."""
    page.goto(shop.address + BY_LINK)
    card = page.locator("[data-arrival]")
    expect(card).to_contain_text("You followed our link from newsletter in the campaign fair-wind")
    expect(card).to_contain_text(LINK_ID)

    call = call_in_panel(page, "attribution")
    expect(call.locator(".call-result")).to_have_text("accepted")
    expect(call.locator(".call-answer")).to_have_text("→ link 3f0c9a52…, fair-wind, newsletter")
    expect(call.locator(".call-id")).to_have_text(shop.service.calls[0]["call_id"])
    page.get_by_text("JSON").first.click()
    expect(page.locator('[data-side="request"]').first).to_contain_text('"api_key": "c_web_test"')
    expect(page.locator('[data-side="answer"]').first).to_contain_text('"status": "accepted"')

    device = page.locator("[data-panel-device]")
    before = device.inner_text()
    page.get_by_role("button", name="Forget this device").click()
    expect(page.locator("[data-arrival=organic]")).to_be_visible()
    expect(device).not_to_have_text(before)
    assert len({request["batch"]["device_id"] for request in shop.service.requests}) == 2


def test_the_panel_shows_rejection_and_failure(page: Page, shop: Shop) -> None:
    """A rejected call shows why; a request that failed as a whole shows its status."""
    page.goto(shop.address)
    expect(call_in_panel(page, "attribution").locator(".call-result")).to_have_text("accepted")
    shop.service.answer = refuse(403)
    page.get_by_label("E-mail address").fill("ada@example.org")
    page.get_by_role("button", name="Sign up").click()
    expect(page.locator(".request-status").first).to_contain_text("403")
    expect(call_in_panel(page, "lead").locator(".call-result")).to_have_text("no result")


def test_an_organic_visitor_is_welcome_too(page: Page, shop: Shop) -> None:
    """Without link or campaign the page says so, in a friendly sentence. The panel's bar is a button that
    says whether the panel is open, and the choice is kept. What its recorder wraps gives the browser's own
    answer, still unread, and fails as the browser does."""
    page.goto(shop.address)
    expect(page.locator("[data-arrival=organic]")).to_contain_text("You found us on your own")

    url = f"http://localhost:{shop.service.port}/serviceCore/sdk/v1/batch"
    said = page.evaluate(
        "async (url) => (await fetch(url, {method: 'POST', body: JSON.stringify({calls: []})})).json()", url
    )
    assert said == {"results": []}
    aborted = "(url) => fetch(url, {signal: AbortSignal.abort()}).catch((error) => error.name)"
    assert page.evaluate(aborted, url) == "AbortError"

    bar = page.locator("[data-panel-toggle]")
    expect(bar).to_have_attribute("aria-expanded", "true")
    bar.press("Enter")
    expect(bar).to_have_attribute("aria-expanded", "false")
    expect(page.locator("[data-panel-body]")).to_be_hidden()
    page.goto(f"{shop.address}/checkout")
    expect(bar).to_have_attribute("aria-expanded", "false")


def test_consent_is_asked_first(page: Page, shop: Shop) -> None:
    """With consent required nothing is stored or sent until it is given; then the visit's link is known."""
    page.goto(f"{shop.address}{BY_LINK}&consent=required")
    expect(page.locator("[data-panel-consent]")).to_have_text("waited for: nothing is stored or sent")
    assert page.context.cookies(page.url) == []
    page.get_by_role("button", name="Allow").click()
    expect(page.locator("[data-arrival=link]")).to_contain_text("newsletter")
    expect(page.get_by_role("region", name="Your consent")).to_be_hidden()
    expect(page.locator("[data-panel-consent]")).to_have_text("granted")
    assert [cookie.get("name") for cookie in page.context.cookies(page.url)] == ["cl_device_id"]


def test_denied_consent_lasts_over_pages(page: Page, shop: Shop) -> None:
    """After a no the shop still works, and reports nothing on later pages either."""
    page.goto(f"{shop.address}/kites/kestrel?consent=required")
    page.get_by_role("button", name="No, thanks").click()
    order(page)
    expect(page.locator("[data-panel-consent]")).to_have_text("denied: nothing is stored or sent")
    page.get_by_role("button", name="Grant consent").click()
    page.get_by_role("button", name="Report it again").click()
    assert [call["kind"] for call in shop.service.wait_for(2)] == ["attribution", "conversion"]


def test_the_panel_covers_nothing_on_phones(phone: Page, shop: Shop) -> None:
    """On a phone the panel starts as a bar, and the page can be scrolled clear of it, open or not."""
    phone.goto(shop.address)
    bar = phone.locator("[data-panel-toggle]")
    for is_open in ("false", "true"):
        expect(bar).to_have_attribute("aria-expanded", is_open)
        phone.evaluate("scrollTo({top: document.documentElement.scrollHeight, behavior: 'instant'})")
        footer, panel = (
            phone.locator(".colophon").bounding_box(),
            phone.locator("[data-panel]").bounding_box(),
        )
        assert footer is not None
        assert panel is not None
        assert footer["y"] + footer["height"] <= panel["y"] + 1
        assert phone.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
        bar.click()


def test_the_shop_works_without_waylink(page: Page, shop: Shop) -> None:
    """Where a blocker keeps the SDK's file away, basket and order work, and the page says so."""
    page.route("**/sdk/*.js", lambda route: route.abort())
    page.goto(shop.address)
    expect(page.locator("[data-arrival=unknown]")).to_contain_text("kept from loading")
    buy(page, shop)
    expect(page.get_by_text("as good as in the air")).to_be_visible()
    assert shop.service.requests == []
