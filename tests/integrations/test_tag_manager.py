"""The template for Google Tag Manager: well-formed, and run with the functions that Google documents.

Tag Manager itself is not run.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.recording_server import RecordingServer
from tests.browser.shop_pages import stored
from tests.integrations.shop_page import HOST, INTEGRATIONS, KEY, open_page, platform

TEMPLATE = (INTEGRATIONS / "google_tag_manager" / "template.tpl").read_text()
SECTIONS = dict(re.findall(r"^___([A-Z_]+)___\n\n(.*?)(?=\n\n___|\Z)", TEMPLATE, re.DOTALL | re.MULTILINE))
CODE = SECTIONS["SANDBOXED_JS_FOR_WEB_TEMPLATE"]
FIELDS = {field["name"]: field for field in json.loads(SECTIONS["TEMPLATE_PARAMETERS"])}
SALE = {"revenue": "19.99", "currency": "EUR", "transactionId": "order-1042"}
# What each API needs (developers.google.com/tag-platform/tag-manager/templates/permissions).
NEEDS = {
    "addConsentListener": "access_consent",
    "callInWindow": "access_globals",
    "injectScript": "inject_script",
    "isConsentGranted": "access_consent",
    "makeNumber": None,
}


def plain(value: dict[str, Any]) -> Any:
    """A value of the permissions' notation: 1 is a text, 2 a list, 3 a map, 8 true or false."""
    kind = value["type"]
    if kind == 2:
        return [plain(item) for item in value["listItem"]]
    if kind == 3:
        return dict(zip(map(plain, value["mapKey"]), map(plain, value["mapValue"]), strict=True))
    return value["string"] if kind == 1 else value["boolean"]


PERMISSIONS = {
    permission["instance"]["key"]["publicId"]: plain(permission["instance"]["param"][0]["value"])
    for permission in json.loads(SECTIONS["WEB_PERMISSIONS"])
}


def test_the_sections_stand_in_the_gallerys_order() -> None:
    """Tag Manager imports a file with these sections in this order."""
    assert list(SECTIONS) == [
        "TERMS_OF_SERVICE",
        "INFO",
        "TEMPLATE_PARAMETERS",
        "SANDBOXED_JS_FOR_WEB_TEMPLATE",
        "WEB_PERMISSIONS",
        "TESTS",
        "NOTES",
    ]
    info = json.loads(SECTIONS["INFO"])
    assert (info["type"], info["displayName"], info["containerContexts"]) == ("TAG", "Waylink", ["WEB"])


def test_the_code_has_the_permissions_that_it_needs_and_no_other() -> None:
    """Each API that is required has its permission; each field that is read is asked for."""
    required = re.findall(r"require\('(\w+)'\)", CODE)
    assert required == sorted(NEEDS)
    assert {NEEDS[name] for name in required} - {None} == set(PERMISSIONS)
    called = set(re.findall(r"'(Waylink\.\w+)'", CODE))
    assert {entry["key"] for entry in PERMISSIONS["access_globals"] if entry["execute"]} == called
    assert set(re.findall(r"data\.(\w+)", CODE)) - {"gtmOnSuccess", "gtmOnFailure"} == set(FIELDS)


def test_the_code_keeps_to_the_sandboxs_javascript() -> None:
    """Templates have neither `new`, `this`, classes, async functions, nor regular expressions."""
    assert not re.findall(r"\b(?:new|this|class|async|await|window|document)\b", CODE.replace("InWindow", ""))


def fire(page: Page, server: RecordingServer, action: str, **fields: str) -> None:
    """Fire a tag with these fields."""
    data = {"action": action, "script": server.url("/waylink.js", HOST), "consentType": "analytics_storage"}
    page.evaluate("([code, data]) => platform.fire(code, data)", [CODE, data | fields])


@pytest.fixture
def shop(page: Page, server: RecordingServer) -> Page:
    """A page with Tag Manager, and a shop whose visitors are asked."""
    permissions = json.dumps(PERMISSIONS)
    open_page(page, server, f"<script>permissions = {permissions}</script>{platform('tag-manager')}")
    return page


def test_a_sale_waits_for_start_and_consent(faults: list[str], shop: Page, server: RecordingServer) -> None:
    """Tags fire in any order: a sale before the start is sent with consent, after the visit; each tag's
    fields arrive; a withdrawal leaves nothing."""
    fire(shop, server, "trackConversion", **SALE)
    fire(shop, server, "start", apiKey=KEY)
    fire(shop, server, "trackLead", eventId="form-8")
    fire(shop, server, "trackEvent", eventName="size_chosen")
    assert (server.requests, stored(shop)) == ([], [])
    shop.evaluate("platform.answer('agreed')")
    _, sale, lead, event = server.wait_for(4)
    assert server.kinds == ["attribution", "conversion", "lead", "event"]
    assert (sale["revenue"], sale["currency"], sale["transaction_id"]) == (19.99, "EUR", "order-1042")
    assert (lead["event_id"], event["name"]) == ("form-8", "size_chosen")
    assert server.visits.count("/waylink.js") == 1
    shop.evaluate("platform.answer('refused')")
    shop.wait_for_function("!Waylink.hasConsent()")
    assert (stored(shop), faults) == ([], [])


@pytest.mark.parametrize(("consent_type", "answer"), [("none", ""), ("ad_storage", "agreed")])
def test_a_visit_that_may_be_measured(
    shop: Page, server: RecordingServer, consent_type: str, answer: str
) -> None:
    """Where consent is given already, or not required, the start measures the visit."""
    shop.evaluate("answer => answer && platform.answer(answer)", answer)
    fire(shop, server, "start", apiKey=KEY, consentType=consent_type)
    shop.evaluate("Waylink.whenAttributed()")
    assert server.kinds == ["attribution"]


def test_a_script_that_does_not_load_fails_the_tag(shop: Page, server: RecordingServer) -> None:
    """Tag Manager is told, so that its preview shows the tag as failed."""
    data = {
        "action": "start",
        "script": "http://localhost:9/waylink.js",
        "apiKey": KEY,
        "consentType": "none",
    }
    failed = "([code, data]) => platform.fire(code, data).then(() => false, () => true)"
    assert shop.evaluate(failed, [CODE, data])
