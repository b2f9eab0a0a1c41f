"""The SDK in a real browser: init, the device cookie, signals, the check, getAttribution, trackConversion."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page

from tests.browser.recording_server import BATCH_PATH, RecordingServer, acknowledge, refuse

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
INIT = "Waylink.init({apiKey: 'c_web_test'})"


def visit(page: Page, server: RecordingServer, path: str = "/", host: str = "shop.test") -> None:
    """Open a page and wait until the SDK has started."""
    page.goto(server.url(path, host))
    page.evaluate(INIT)


def device_cookie(page: Page) -> dict[str, object]:
    """The device cookie as the browser keeps it."""
    return next(dict(cookie) for cookie in page.context.cookies() if cookie.get("name") == "cl_device_id")


def test_a_first_visit_sends_one_check(page: Page, server: RecordingServer) -> None:
    """The first page load makes one request, an attribution check, without a preflight."""
    visit(page, server)
    (request,) = server.requests
    assert request["path"] == BATCH_PATH
    assert request["headers"]["Content-Type"].lower() == "text/plain;charset=utf-8"
    batch = request["batch"]
    assert batch["api_key"] == "c_web_test"
    assert UUID.fullmatch(batch["device_id"])
    (call,) = batch["calls"]
    assert (call["kind"], call["signals"], call["page"]) == ("attribution", {}, server.url("/"))
    assert UUID.fullmatch(call["call_id"])


def test_plain_navigation_sends_nothing(page: Page, server: RecordingServer) -> None:
    """On later pages without a signal nothing is sent: the next call to arrive is the sentinel."""
    visit(page, server)
    visit(page, server, "/about")
    page.evaluate("Waylink.trackConversion({revenue: 1, currency: 'EUR'})")
    assert server.wait_for(2) == server.calls
    assert server.kinds == ["attribution", "conversion"]


def test_the_device_cookie_keeps_its_id(page: Page, server: RecordingServer) -> None:
    """One id on every page of every subdomain, on the widest domain that the browser accepts."""
    visit(page, server, host="www.shop.test")
    cookie = device_cookie(page)
    assert (cookie["domain"], cookie["path"], cookie["sameSite"]) == (".shop.test", "/", "Lax")
    visit(page, server, host="app.shop.test")
    assert device_cookie(page)["value"] == cookie["value"] == server.requests[0]["batch"]["device_id"]
    assert [each["name"] for each in page.context.cookies()] == ["cl_device_id"]


def test_signals_are_sent_and_attribution_is_known(page: Page, server: RecordingServer) -> None:
    """Every signal of the address goes along, others don't; getAttribution gives the service's answer."""
    visit(page, server, "/?cl_link_id=L1&utm_source=news&gclid=G&colour=red")
    assert server.calls[0]["signals"] == {"cl_link_id": "L1", "utm_source": "news", "gclid": "G"}
    attribution = page.evaluate("Waylink.getAttribution()")
    assert (attribution["cl_link_id"], attribution["utm_source"], attribution["utm_term"]) == (
        "L1",
        "news",
        None,
    )


def test_attribution_stays_in_the_tab(page: Page, server: RecordingServer) -> None:
    """On a later page without a signal, the context found earlier in the tab still holds."""
    visit(page, server, "/?cl_link_id=L1")
    visit(page, server, "/checkout")
    assert page.evaluate("Waylink.getAttribution()")["cl_link_id"] == "L1"


def test_attribution_is_null_before_init_and_on_organic_traffic(page: Page, server: RecordingServer) -> None:
    """getAttribution gives null before init resolves, and when the visitor came by no link or ad."""
    page.goto(server.url("/?utm_source=news"))
    assert page.evaluate("Waylink.getAttribution()") is None
    page.goto(server.url("/"))
    page.evaluate(INIT)
    assert page.evaluate("Waylink.getAttribution()") is None


def test_a_conversion_carries_its_fields(page: Page, server: RecordingServer) -> None:
    """trackConversion sends what it was given, and resolves once the service has answered."""
    visit(page, server)
    given = {"revenue": 59.9, "currency": "EUR", "transaction_id": "order-1", "product_id": "kite"}
    page.evaluate("fields => Waylink.trackConversion(fields)", given)
    call = server.calls[1]
    assert {name: call[name] for name in given} == given


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ("{currency: 'EUR'}", "revenue"),
        ("{revenue: '5', currency: 'EUR'}", "revenue"),
        ("{revenue: 5}", "currency"),
        ("", "revenue"),
    ],
)
def test_bad_arguments_reject(page: Page, server: RecordingServer, fields: str, named: str) -> None:
    """A bad argument rejects the promise with a TypeError that names the field; nothing throws."""
    visit(page, server)
    caught = page.evaluate(f"Waylink.trackConversion({fields}).catch(error => [error.name, error.message])")
    assert caught[0] == "TypeError"
    assert named in caught[1]


def test_init_needs_a_key(page: Page, server: RecordingServer) -> None:
    """init without apiKey rejects with a TypeError that names it, and nothing is sent."""
    page.goto(server.url())
    caught = page.evaluate("Waylink.init({}).catch(error => [error.name, error.message])")
    assert caught[0] == "TypeError"
    assert "apiKey" in caught[1]
    page.evaluate(INIT)
    assert server.kinds == ["attribution"]


def test_calls_before_init_wait(page: Page, server: RecordingServer) -> None:
    """A call made before init is sent after the check, in order."""
    page.goto(server.url())
    page.evaluate("Waylink.trackConversion({revenue: 1, currency: 'EUR'}); " + INIT)
    server.wait_for(2)
    assert server.kinds == ["attribution", "conversion"]


def test_a_failed_call_is_sent_again(page: Page, server: RecordingServer) -> None:
    """What a failing service did not acknowledge arrives later, from a later page, with the same call_id."""
    visit(page, server)
    server.answer = refuse(503)
    page.evaluate("Waylink.trackConversion({revenue: 1, currency: 'EUR'})")
    failed = server.wait_for(2)[1]
    server.answer = acknowledge
    visit(page, server, "/later")
    assert server.wait_for(3)[-1]["call_id"] == failed["call_id"]


def test_only_the_one_name_is_added_to_the_page(page: Page, server: RecordingServer) -> None:
    """Loading and starting the SDK adds one global, and changes no built-in prototype."""
    snapshot = """() => [window, Object, Array, String, Function, Promise, Uint8Array, Date, RegExp, Map, Set]
        .flatMap((owner, i) => Reflect.ownKeys(owner.prototype || owner).map(key => i + ':' + String(key)))
        .concat(Object.getOwnPropertyNames(window))"""
    page.goto("about:blank")
    page.goto(server.url("/"))
    page.evaluate(INIT)
    after = set(page.evaluate(snapshot))
    server_without = server.url("/index.html")
    page.route("**/waylink.js", lambda route: route.fulfill(body="", content_type="text/javascript"))
    page.goto(server_without)
    assert after - set(page.evaluate(snapshot)) == {"Waylink", "0:Waylink"}
