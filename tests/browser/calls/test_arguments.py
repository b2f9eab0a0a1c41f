"""What each call takes: right arguments arrive as given, wrong ones reject with the field's name."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.recording_server import RecordingServer
from tests.browser.shop_pages import INIT, expect_sent, visit

GIVEN: dict[str, tuple[str, dict[str, Any]]] = {
    "trackLead": (
        "lead",
        {
            "customer_id": "c",
            "name": "Ada",
            "event_id": "form-8",
            "client_timestamp": "2026-01-02T03:04:05Z",
        },
    ),
    "trackConversion": (
        "conversion",
        {
            "revenue": 59.9,
            "currency": "EUR",
            "transaction_id": "order-1",
            "product_id": "kite",
            "customer_id": "c",
        },
    ),
    "identify": (
        "identify",
        {"customer_id": "c", "name": "Ada", "email_sha256": "e" * 64, "phone_sha256": "f" * 64},
    ),
}
WRONG = [
    ("trackConversion()", "revenue"),
    ("trackConversion({currency: 'EUR'})", "revenue"),
    ("trackConversion({revenue: '5,00', currency: 'EUR'})", "revenue"),
    ("trackConversion({revenue: NaN, currency: 'EUR'})", "revenue"),
    ("trackConversion({revenue: -1, currency: 'EUR'})", "revenue"),
    ("trackConversion({revenue: 5})", "currency"),
    ("trackConversion({revenue: 5, currency: 'Euro'})", "currency"),
    ("trackConversion({revenue: 5, currency: 'EUR', transaction_id: 7.5})", "transaction_id"),
    ("trackConversion({revenue: 5, currency: 'EUR', transaction_id: () => 7})", "transaction_id"),
    ("trackConversion({revenue: 5, currency: 'EUR', product_id: Symbol('kite')})", "product_id"),
    ("trackLead({email: {toJSON() {}}})", "email"),
    ("trackLead({event_id: 1e21})", "event_id"),
    ("trackLead('form')", "fields"),
    ("trackEvent()", "name"),
    ("trackEvent(5)", "name"),
    ("trackEvent('a', {metadata: {size: 9n}})", "metadata"),
    ("trackEvent('a', {metadata: {a: 'ü'.repeat(2045)}})", "metadata"),
    ("trackEvent('a', {metadata: {a: [[[[[[[9]]]]]]]}})", "metadata"),
    ("trackEvent('🛒'.repeat(257))", "name"),
    ("trackLead({email_sha256: 'ada@example.com'})", "email_sha256"),
]
WRONG_OPTIONS = [
    ("", "apiKey"),
    ("{}", "apiKey"),
    ("{apiKey: 5}", "apiKey"),
    ("{apiKey: 'k', consentMode: 'yes'}", "consentMode"),
    ("{apiKey: 'k', baseUrl: 'https://[links'}", "baseUrl"),
    ("{apiKey: 'k', baseUrl: 5}", "baseUrl"),
    ("{apiKey: 'k', cookieDomain: 5}", "cookieDomain"),
]


def assert_rejects(page: Page, call: str, named: str) -> None:
    """The call rejects with a TypeError that names this."""
    name, message = page.evaluate(f"Waylink.{call}.catch(error => [error.name, error.message])")
    assert (name, named in message) == ("TypeError", True), call


def test_fields_arrive_as_given(page: Page, server: RecordingServer) -> None:
    """Must arrive: every field of the contract, under its name."""
    visit(page, server)
    for call, (_, fields) in GIVEN.items():
        page.evaluate(f"fields => Waylink.{call}(fields)", fields)
    expect_sent(page, server, "attribution", *(kind for kind, _ in GIVEN.values()))
    for sent, (_, fields) in zip(server.calls[1:], GIVEN.values(), strict=False):
        assert {name: sent.get(name) for name in fields} == fields


def test_an_event_arrives_with_its_metadata(page: Page, server: RecordingServer) -> None:
    """Must arrive: the name, the product, and metadata of any depth."""
    visit(page, server)
    page.evaluate("Waylink.trackEvent('chosen', {product_id: 'kite', metadata: {sizes: [9, {x: null}]}})")
    event = server.wait_for(2)[1]
    assert (event["name"], event["product_id"]) == ("chosen", "kite")
    assert event["metadata"] == {"sizes": [9, {"x": None}]}


def test_a_lead_without_arguments_carries_device_and_address(page: Page, server: RecordingServer) -> None:
    """Must arrive: a lead of this device, on this page."""
    visit(page, server, "/contact")
    page.evaluate("Waylink.trackLead()")
    lead = server.wait_for(2)[1]
    assert (lead["kind"], lead["page"]) == ("lead", server.url("/contact"))
    assert server.requests[1]["batch"]["device_id"] == server.requests[0]["batch"]["device_id"]


@pytest.mark.parametrize("character", ['"', "🛒"])
def test_texts_are_counted_in_characters(page: Page, server: RecordingServer, character: str) -> None:
    """Must arrive: 256 quotes or emoji, without the blanks around them."""
    visit(page, server)
    page.evaluate("name => Waylink.trackEvent(` ${name}\\n`)", character * 256)
    assert server.wait_for(2)[1]["name"] == character * 256


def test_bad_arguments_reject(page: Page, server: RecordingServer) -> None:
    """A TypeError that names the field, as a rejection and never thrown. Must not arrive: the call."""
    visit(page, server)
    for call, field in WRONG:
        assert_rejects(page, call, field)
    expect_sent(page, server, "attribution")


def test_init_says_what_is_wrong(page: Page, server: RecordingServer) -> None:
    """A TypeError that names the option. Must not arrive: anything before an init with right options."""
    page.goto(server.url())
    for options, option in WRONG_OPTIONS:
        assert_rejects(page, f"init({options})", option)
    page.evaluate(INIT)
    expect_sent(page, server, "attribution")


LOADS = {
    "a module": "import('/waylink.mjs').then((module) => { window.Waylink = module.Waylink })",
    "inlined": "fetch('/waylink.js').then((answer) => answer.text()).then((code) => {"
    " const tag = document.createElement('script'); tag.textContent = code; document.head.append(tag) })",
}


@pytest.mark.parametrize("load", LOADS.values(), ids=LOADS)
def test_no_address_is_told_once(page: Page, said: list[str], server: RecordingServer, load: str) -> None:
    """Where nothing says where the service is, the console does; calls go to the page's own origin."""
    for options in ("", "baseUrl: '/'"):
        page.goto(server.url())
        page.evaluate(f"delete window.Waylink, {load}")
        page.evaluate(f"Waylink.init({{apiKey: 'c_web_test', {options}}})")
        page.evaluate("Waylink.trackEvent('a')")
    assert server.kinds == ["attribution", "event", "event"]
    assert said == ["Waylink baseUrl "]
