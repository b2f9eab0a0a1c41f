"""The snippet for Shopify's themes and the custom pixel, on pages with what Shopify documents.

Shopify itself is not run.
"""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page

from tests.browser.real_service import RealService
from tests.browser.recording_server import RecordingServer
from tests.browser.shop_pages import CONVERSION, stored
from tests.integrations.shop_page import HOST, INTEGRATIONS, KEY, SERVICE, open_page, platform
from tests.polling import wait_for

LIQUID = (INTEGRATIONS / "shopify" / "waylink.liquid").read_text()
PIXEL = (INTEGRATIONS / "shopify" / "custom_pixel.js").read_text()
DEVICE = "7a1f8a2e-6a0b-4b8e-9a51-0d2f6f3f9c11"
CHECKOUT = {
    "name": "checkout_completed",
    "id": "sh-1",
    "timestamp": "2026-11-29T08:00:00.000Z",
    "context": {
        "document": {"location": {"origin": "https://shop.example", "pathname": "/checkouts/1/thank-you"}}
    },
    "data": {
        "checkout": {
            "currencyCode": "EUR",
            "totalPrice": {"amount": 49.9, "currencyCode": "EUR"},
            "order": {"id": "5558"},
        }
    },
}
# Shopify runs a custom pixel in a frame without an origin. What `browser` does is done by the page around it.
SANDBOX = """
<script>
const asked = [];
const frame = document.createElement('iframe');
frame.sandbox = 'allow-scripts allow-forms';
addEventListener('message', async ({ data: [id, name, ...given] }) => {
  const cookie = () => (document.cookie.match(given[0] + '=([^;]*)') || [])[1] || '';
  const value = name === 'cookie' ? cookie() : navigator.sendBeacon(...given);
  asked.push(name);
  frame.contentWindow.postMessage([id, value], '*');
});
frame.srcdoc = SOURCE;
window.loaded = new Promise((resolve) => { frame.onload = resolve; });
document.documentElement.append(frame);
</script>
"""
INSIDE = """<script>
const pending = {};
let count = 0;
const ask = (...question) => new Promise((resolve) => {
  pending[++count] = resolve;
  parent.postMessage([count, ...question], '*');
});
const cookie = { get: (name) => ask('cookie', name) };
const browser = { cookie, sendBeacon: (...given) => ask('beacon', ...given) };
const subscribed = {};
const analytics = { subscribe: (name, callback) => { subscribed[name] = callback; } };
addEventListener('message', ({ data }) => {
  if (Array.isArray(data)) pending[data[0]](data[1]);
  else subscribed[data.name](data);
});
</script>"""


def theme(server: RecordingServer) -> str:
    """What the theme's snippet gives on a page of the test's shop."""
    text = re.sub(r"\{%- comment -%\}.*?\{%- endcomment -%\}", "", LIQUID, flags=re.DOTALL)
    assert "{%" not in text
    assert "{{" not in text
    return text.replace(SERVICE, server.url("", HOST)).replace("c_web_…", KEY)


def test_a_visitor_answers_on_the_page(page: Page, faults: list[str], server: RecordingServer) -> None:
    """Nothing without an answer; what waited with consent; nothing is left after a withdrawal."""
    open_page(page, server, platform("shopify") + theme(server))
    page.evaluate(f"void {CONVERSION}")
    assert (server.requests, stored(page)) == ([], [])
    page.evaluate("platform.answer('agreed')")
    server.wait_for(2)
    assert server.kinds == ["attribution", "conversion"]
    page.evaluate("platform.answer('refused')")
    page.wait_for_function("!Waylink.hasConsent()")
    assert (stored(page), faults) == ([], [])


@pytest.mark.parametrize(("former", "sent"), [("agreed", ["attribution"]), ("refused", [])])
def test_a_visitor_has_answered_before(
    page: Page, server: RecordingServer, former: str, sent: list[str]
) -> None:
    """Who agreed, or need not be asked, is measured from the start; calls of who refused wait for nothing."""
    open_page(page, server, platform("shopify", former) + theme(server))
    page.evaluate("Waylink.whenAttributed()")
    assert server.kinds == sent


def open_checkout(page: Page, server: RecordingServer, service: str, key: str) -> None:
    """Open a page with the pixel, which is told of a finished checkout."""
    pixel = PIXEL.replace(SERVICE, service).replace("c_web_…", key)
    source = json.dumps(f"{INSIDE}<script>{pixel}</script>").replace("</", "<\\/")
    server.head = SANDBOX.replace("SOURCE", source)
    page.goto(server.url("/checkout", HOST))
    page.evaluate("loaded")
    page.evaluate("event => frame.contentWindow.postMessage(event, '*')", CHECKOUT)
    page.wait_for_function("asked.includes('cookie')")


def test_a_sale_of_the_pixel_is_stored(
    page: Page, server: RecordingServer, service_of_shop: RealService
) -> None:
    """The service takes what the pixel sends, once: revenue, currency, order and device."""
    service_of_shop.allow(server.url("", HOST))
    page.context.add_cookies([{"name": "cl_device_id", "value": DEVICE, "url": server.url("", HOST)}])
    open_checkout(page, server, service_of_shop.base_url, service_of_shop.web_key)
    (sale,) = wait_for(lambda: service_of_shop.stored("conversions"), "no sale was stored")
    assert (sale["transaction_id"], sale["device_id"]) == ("5558", DEVICE)
    assert (str(sale["revenue"]), sale["currency"]) == ("49.90", "EUR")


def test_without_consent_the_pixel_sends_nothing(page: Page, server: RecordingServer) -> None:
    """Without the cookie, which needs consent, there is nobody to credit the sale to."""
    open_checkout(page, server, server.url("", HOST), KEY)
    page.context.add_cookies([{"name": "cl_device_id", "value": DEVICE, "url": server.url("", HOST)}])
    page.evaluate("event => frame.contentWindow.postMessage(event, '*')", CHECKOUT)
    assert len(server.wait_for(1)) == 1
