"""Every example of the SDK in README.md, docs/*.md and sdk_dist/README.md, run as it stands there.

Those of js run on a page that has loaded the SDK. The other blocks of these pages are run by
tests/api/description/test_docs.py.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.recording_server import RecordingServer
from tests.document_blocks import Block, blocks_to_run, filled
from tests.polling import wait_for

DOCS = (Path(__file__).parents[3] / "docs" / "sdk.md").read_text()
ROWS = re.findall(r"^\| `(\w+)\([^)]*\)` \| `([^`]+)`", DOCS, re.MULTILINE)
KNOWN = {"c_web_": "c_web_test"}
SCRIPTS = [block for page in blocks_to_run(frozenset({"js"})).values() for block in page]
PAGES = blocks_to_run(frozenset({"html"}))
ADDRESS = "/?utm_source=docs"
HOST = "localhost"  # where contacts can be hashed
# What each call has sent by the end of its example, the check of init included, and what it gives.
EXPECTED: dict[str, tuple[list[str], Any]] = {
    "init": (["attribution"], {"dropped": 0, "unknown": 0, "baseUrl": 0}),
    "identify": (["attribution", "identify"], None),
    "trackLead": (["attribution", "lead"], "accepted"),
    "trackConversion": (["attribution", "conversion"], "accepted"),
    "trackEvent": (["attribution", "event"], "accepted"),
    "getAttribution": (["attribution"], "docs"),
    "whenAttributed": (["attribution"], "docs"),
    "grantConsent": (["attribution"], None),
    "denyConsent": (["attribution"], None),
    "hasConsent": (["attribution"], True),
    "trackPageView": (["attribution"], None),
    "reset": (["attribution", "attribution"], None),
    "flush": (["attribution"], 0),
}


@pytest.fixture
def shop(page: Page, server: RecordingServer) -> Page:
    """A page with the SDK on it, which nobody has started: that is for the example."""
    page.goto(server.url(ADDRESS, HOST))
    return page


def run(shop: Page, server: RecordingServer, code: str) -> Any:
    """Run an example; the service's address and the key are all that differs from the docs."""
    here = server.url("", HOST)
    placed = filled(code, here, KNOWN)
    if "baseUrl" not in placed:
        placed = placed.replace("apiKey:", f"baseUrl: '{here}', apiKey:")
    return shop.evaluate(f"async () => {{ {placed} }}")


def test_every_call_has_an_example() -> None:
    """The table shows each call of the contract, once."""
    assert [name for name, _ in ROWS] == list(EXPECTED)


@pytest.mark.parametrize(("call", "example"), ROWS, ids=[name for name, _ in ROWS])
def test_an_example_of_a_call(shop: Page, server: RecordingServer, call: str, example: str) -> None:
    """It sends what the call is for, and gives what the docs say."""
    if call != "init":
        run(shop, server, "await Waylink.init({ apiKey: 'c_web_test' });")
    expected_kinds, expected_value = EXPECTED[call]
    value = run(shop, server, f"return {example} ?? null")
    server.wait_for(len(expected_kinds))
    outcome = value["status"] if call.startswith("track") and value else value
    assert (server.kinds, outcome) == (expected_kinds, expected_value)


@pytest.mark.parametrize("block", SCRIPTS, ids=lambda block: block.where)
def test_a_script(shop: Page, server: RecordingServer, block: Block) -> None:
    """It runs to its end, and the check of its init arrives. Its import is the SDK that the page has."""
    code = re.sub(r"^import .*$", "", block.text, flags=re.MULTILINE)
    run(shop, server, code)
    server.wait_for(1)
    assert server.kinds[0] == "attribution"
    assert server.requests[0]["batch"]["api_key"] == "c_web_test"


@pytest.mark.parametrize("document", PAGES)
def test_a_page_of_html(
    page: Page, said: list[str], faults: list[str], server: RecordingServer, document: str
) -> None:
    """A page that has the document's blocks, one after the other, loads the SDK from where they say, knows
    the visit's campaign, and sends all that they call."""
    here = server.url("", HOST)
    html = "".join(block.text for block in PAGES[document])
    content = f"<!doctype html><title>Shop</title>{filled(html, here, KNOWN)}"
    page.route("**/shop/**", lambda route: route.fulfill(body=content, content_type="text/html"))
    page.goto(f"{here}/shop/?utm_source=docs")
    expected = ["attribution", *(["conversion"] if "trackConversion({" in html else [])]
    server.wait_for_kinds(*expected)
    wait_for(lambda: page.evaluate("Waylink.getAttribution()?.utm_source"), "the visit stayed unknown")
    assert "/waylink.js" in server.visits
    assert {request["batch"]["api_key"] for request in server.requests} == {"c_web_test"}
    assert faults == []
    assert len(said) == 1  # what whenAttributed gives
