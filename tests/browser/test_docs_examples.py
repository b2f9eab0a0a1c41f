"""Every example of docs/sdk.md, run as it stands there on a page of the demo shop."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from demo_site.app import DemoSite
from tests.browser.demo_shop import bound_port, demo_shop
from tests.browser.recording_server import RecordingServer, recording_server

DOCS = (Path(__file__).parents[2] / "docs" / "sdk.md").read_text()
ROWS = re.findall(r"^\| `(\w+)\([^)]*\)` \| `([^`]+)`", DOCS, re.MULTILINE)
BLOCKS = re.findall(r"^```js\n(.*?)^```", DOCS, re.DOTALL | re.MULTILINE)
SCRIPTS = re.findall(r"^<script>\n(  .*?)^</script>", DOCS, re.DOTALL | re.MULTILINE)
ADDRESS = "/?utm_source=docs"
# What each call has sent by the end of its example, the check of init included, and what it gives.
EXPECTED: dict[str, tuple[list[str], Any]] = {
    "init": (["attribution"], None),
    "identify": (["attribution", "identify"], None),
    "trackLead": (["attribution", "lead"], None),
    "trackConversion": (["attribution", "conversion"], None),
    "trackEvent": (["attribution", "event"], None),
    "getAttribution": (["attribution"], "docs"),
    "whenAttributed": (["attribution"], "docs"),
    "grantConsent": (["attribution"], None),
    "denyConsent": (["attribution"], None),
    "hasConsent": (["attribution"], True),
    "trackPageView": (["attribution"], None),
}


@pytest.fixture
def service() -> Iterator[RecordingServer]:
    """What the shop reports to."""
    with recording_server() as service:
        yield service


@pytest.fixture
def shop(page: Page, service: RecordingServer) -> Iterator[Page]:
    """A page of the shop with the SDK on it, which nobody has started: that is for the example."""
    bound, port = bound_port()
    config = DemoSite(f"http://localhost:{service.port}", "c_web_test", "")
    with demo_shop(config, bound):
        page.route("**/waylink_setup.js", lambda route: route.fulfill(status=404))
        page.goto(f"http://localhost:{port}{ADDRESS}")
        page.wait_for_function("window.Waylink")
        yield page


def run(shop: Page, service: RecordingServer, code: str) -> Any:
    """Run an example; the service's address is the only thing that differs from the docs."""
    here = f"http://localhost:{service.port}"
    placed = code.replace("https://links.example.com", here)
    if "baseUrl" not in placed:
        placed = placed.replace("apiKey:", f"baseUrl: '{here}', apiKey:")
    return shop.evaluate(f"async () => {{ {placed} }}")


def test_every_call_has_an_example() -> None:
    """The table shows each call of the contract, once."""
    assert [name for name, _ in ROWS] == list(EXPECTED)


@pytest.mark.parametrize(("call", "example"), ROWS, ids=[name for name, _ in ROWS])
def test_an_example_of_a_call(shop: Page, service: RecordingServer, call: str, example: str) -> None:
    """It sends what the call is for, and gives what the docs say."""
    if call != "init":
        run(shop, service, "await Waylink.init({ apiKey: 'c_web_test' });")
    expected_kinds, expected_value = EXPECTED[call]
    value = run(shop, service, f"return {example} ?? null")
    service.wait_for(len(expected_kinds))
    assert (service.kinds, value) == (expected_kinds, expected_value)


@pytest.mark.parametrize("code", [*BLOCKS, *SCRIPTS], ids=lambda code: code.strip().splitlines()[-1][:40])
def test_a_longer_example(shop: Page, service: RecordingServer, code: str) -> None:
    """It runs to its end, and the check of its init arrives."""
    run(shop, service, re.sub(r"^import .*$", "", code, flags=re.MULTILINE))
    service.wait_for(1)
    assert service.kinds[0] == "attribution"
    assert service.requests[0]["batch"]["api_key"].startswith("c_web_")
