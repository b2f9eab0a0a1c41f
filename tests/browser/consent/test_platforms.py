"""The lines of docs/consent, word for word, on pages with each consent platform (docs/consent/README.md)."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Page

from sdk_build.node import install_packages, run_node
from tests.browser.recording_server import SDK, RecordingServer
from tests.browser.shop_pages import CONVERSION, device_cookie, stored
from tests.browser.sites.test_snippet import SNIPPET
from tests.browser.visitor import Visitor, in_other_engines
from tests.document_blocks import filled

PLATFORMS = Path(__file__).parent / "platforms"
PAGES = Path(__file__).parents[3] / "docs" / "consent"
NAMES = sorted(page.stem for page in PAGES.glob("*.md") if page.stem != "README")
# Where the platform's script stands: it is there before the lines, or comes after them and the SDK. TCF has
# its stub before the lines in any case, as IAB wants it. The address says what the visitor answered earlier.
LOADED = "<script>platform.load(new URLSearchParams(location.search).get('former'))</script>"
ORDERS = {"before": f"{{stub}}{LOADED}{{lines}}{{sdk}}", "after": f"{{stub}}{{sdk}}{{lines}}{LOADED}"}
HEAD = '<!doctype html><title>Shop</title><link rel="icon" href="data:,">'
SDK_TAG = '<script src="/waylink.js"></script>'
NO_CONSENT = "!Waylink.hasConsent()"


def lines_of(name: str) -> str:
    """The lines of a platform's page, the only block of code on it, for the test's key."""
    text = (PAGES / f"{name}.md").read_text()
    ((kind, lines),) = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert kind == "js"
    assert len(lines.splitlines()) <= 5
    return filled(lines, "", {"c_web_": "c_web_test"})


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts of the SDK and of the platforms, and a page of a shop for each platform in each order."""
    folder = tmp_path_factory.mktemp("site")
    install_packages(PLATFORMS)
    scripts = [str(PLATFORMS / f"{name}.js") for name in NAMES]
    run_node("esbuild", *scripts, "--bundle", "--log-level=warning", f"--outdir={folder}")
    shutil.copy(SDK / "waylink.js", folder)
    for name in NAMES:
        stub, lines = f'<script src="/{name}.js"></script>', f"<script>{lines_of(name)}</script>"
        for order, page in ORDERS.items():
            text = HEAD + SNIPPET + page.format(stub=stub, sdk=SDK_TAG, lines=lines)
            (folder / f"{name}-{order}.html").write_text(text)
    return folder


@pytest.fixture(params=[f"{name}-{order}" for name in NAMES for order in ORDERS])
def shop(request: pytest.FixtureRequest, site: Path, server: RecordingServer) -> str:
    """The address of a page of that shop."""
    server.folder = site
    return server.url(f"/{request.param}.html?utm_source=mail")


def open_page(page: Page, shop: str, former: str = "") -> None:
    """Open the shop's page as somebody who has given this answer on an earlier one."""
    page.goto(f"{shop}&former={former}")
    page.evaluate("new Promise((resolve) => setTimeout(resolve))")  # what the lines wait for has come


def test_every_page_has_a_platform() -> None:
    """Each page is tried, and the index links to it."""
    assert sorted(script.stem for script in PLATFORMS.glob("*.js")) == NAMES
    index = (PAGES / "README.md").read_text()
    assert set(re.findall(r"\]\(([a-z-]+)\.md\)", index)) == set(NAMES)


def test_a_visitor_answers_on_the_page(
    page: Page, faults: list[str], server: RecordingServer, shop: str
) -> None:
    """Nothing is stored or sent before an answer; what waited is sent with consent; a withdrawal deletes all;
    who agrees again is another device."""
    open_page(page, shop)
    page.evaluate(f"void {CONVERSION}")
    assert page.evaluate(NO_CONSENT)
    assert (server.requests, stored(page)) == ([], [])
    page.evaluate("platform.answer('agreed')")
    server.wait_for(2)
    assert server.kinds == ["attribution", "conversion"]
    device = device_cookie(page)["value"]
    page.evaluate("platform.answer('refused')")
    page.wait_for_function(NO_CONSENT)
    assert stored(page) == []
    page.evaluate("platform.answer('agreed')")
    page.wait_for_function(f"!({NO_CONSENT}) && document.cookie.includes('cl_device_id=')")
    assert device_cookie(page)["value"] != device
    assert faults == []


def test_a_visitor_has_answered_before(
    page: Page, faults: list[str], server: RecordingServer, shop: str
) -> None:
    """Who agreed is measured from the start; who refused, or agreed to something else, leaves nothing, and
    calls of that page don't wait for ever."""
    open_page(page, shop, "agreed")
    page.evaluate("Waylink.whenAttributed()")
    assert server.kinds == ["attribution"]
    for answer in ("refused", "in_part"):
        open_page(page, shop, answer)
        page.wait_for_function(NO_CONSENT)
        assert page.evaluate(f"{CONVERSION}.then((outcome) => outcome === undefined)")
        assert stored(page) == []
    assert (server.kinds, faults) == (["attribution"], [])


@pytest.mark.parametrize("shop", ["iab-tcf-after"], indirect=True)
def test_where_gdpr_does_not_apply(page: Page, server: RecordingServer, shop: str) -> None:
    """TCF says so, and the visit is measured without an answer."""
    open_page(page, shop, "exempt")
    page.evaluate("Waylink.whenAttributed()")
    assert server.kinds == ["attribution"]


@pytest.mark.parametrize("shop", ["iab-tcf-before"], indirect=True)
def test_a_platform_that_fails(page: Page, faults: list[str], server: RecordingServer, shop: str) -> None:
    """TCF answers with an error: that is no decision, and no error of the lines reaches the page."""
    open_page(page, shop, "failed")
    page.evaluate(f"void {CONVERSION}")
    assert page.evaluate("Waylink.flush()") == 1
    assert (page.evaluate(NO_CONSENT), server.requests, faults) == (True, [], [])


@in_other_engines
def test_in_other_engines(visitor: Visitor, site: Path) -> None:
    """All lines run there: on each page, nothing is sent until the visitor agrees."""
    visitor.server.folder = site
    for count, name in enumerate(NAMES):
        visitor.open(f"/{name}-after.html?utm_source={name}&former=")
        assert not visitor.js("Waylink.hasConsent()")
        assert len(visitor.sent) == count
        visitor.js("platform.answer('agreed')")
        assert visitor.js("Waylink.whenAttributed().then((context) => context.utm_source)") == name
