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
from tests.document_blocks import filled

PLATFORMS = Path(__file__).parent / "platforms"
PAGES = Path(__file__).parents[3] / "docs" / "consent"
NAMES = sorted(page.stem for page in PAGES.glob("*.md") if page.stem != "README")
# Where the platform's script stands: it is there before the lines, or comes after them and the SDK. TCF has
# its stub before the lines in any case, as IAB wants it.
ORDERS = {
    "before": "{stub}<script>platform.load({former})</script>{lines}{sdk}",
    "after": "{stub}{sdk}{lines}<script>platform.load({former})</script>",
}
HOST = "localhost"  # of other hosts, Chromium lets no page that a test answers load anything
NO_CONSENT = "!Waylink.hasConsent()"


def blocks_of(name: str) -> list[tuple[str, str]]:
    """The blocks of code of a platform's page: kind and text."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", (PAGES / f"{name}.md").read_text(), re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the SDK's script and those of all platforms."""
    folder = tmp_path_factory.mktemp("site")
    install_packages(PLATFORMS)
    run_node(
        "esbuild",
        *(str(PLATFORMS / f"{name}.js") for name in NAMES),
        "--bundle",
        "--log-level=warning",
        f"--outdir={folder}",
    )
    shutil.copy(SDK / "waylink.js", folder)
    return folder


@pytest.fixture(params=[(name, order) for name in NAMES for order in ORDERS], ids="-".join)
def shop(request: pytest.FixtureRequest, site: Path, server: RecordingServer) -> tuple[RecordingServer, str]:
    """A shop that asks with a platform; the server, and its page with a gap for what the visitor answered
    on an earlier page."""
    name, order = request.param
    ((kind, lines),) = blocks_of(name)
    assert kind == "js"
    assert len(lines.splitlines()) <= 6
    server.folder = site
    page = ORDERS[order].format(
        stub=f'<script src="/{name}.js"></script>',
        sdk='<script src="/waylink.js"></script>',
        lines=f"<script>{filled(lines, '', {'c_web_': 'c_web_test'})}</script>",
        former="FORMER",
    )
    return server, f'<!doctype html><title>Shop</title><link rel="icon" href="data:,">{SNIPPET}{page}'


def open_page(page: Page, shop: tuple[RecordingServer, str], former: str | None = None) -> None:
    """Open the shop's page as somebody who has given this answer on an earlier one."""
    server, html = shop
    content = html.replace("FORMER", f"'{former}'" if former else "")
    page.unroute_all()
    page.route("**/shop/*", lambda route: route.fulfill(body=content, content_type="text/html"))
    page.goto(server.url("/shop/?utm_source=mail", HOST))
    page.evaluate("new Promise((resolve) => setTimeout(resolve))")  # what the lines wait for has come


def test_every_page_has_a_platform() -> None:
    """Each page is tried, and the index links to it."""
    assert sorted(script.stem for script in PLATFORMS.glob("*.js")) == NAMES
    index = (PAGES / "README.md").read_text()
    assert set(re.findall(r"\]\(([a-z-]+)\.md\)", index)) == set(NAMES)


def test_a_visitor_answers_on_the_page(
    page: Page, faults: list[str], shop: tuple[RecordingServer, str]
) -> None:
    """Nothing is stored or sent before an answer; what waited is sent with consent; a withdrawal deletes all;
    who agrees again is another device."""
    server, _ = shop
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
    page: Page, faults: list[str], shop: tuple[RecordingServer, str]
) -> None:
    """Who agreed is measured from the start; who refused, or agreed to something else, leaves nothing, and
    calls of that page don't wait for ever."""
    server, _ = shop
    open_page(page, shop, "agreed")
    page.evaluate("Waylink.whenAttributed()")
    assert server.kinds == ["attribution"]
    for answer in ("refused", "in_part"):
        open_page(page, shop, answer)
        page.wait_for_function(NO_CONSENT)
        assert page.evaluate(f"{CONVERSION}.then((outcome) => outcome === undefined)")
        assert stored(page) == []
    assert (server.kinds, faults) == (["attribution"], [])


@pytest.mark.parametrize("shop", [("iab-tcf", "after")], indirect=True, ids="-".join)
def test_where_gdpr_does_not_apply(page: Page, shop: tuple[RecordingServer, str]) -> None:
    """TCF says so, and the visit is measured without an answer."""
    open_page(page, shop, "exempt")
    page.evaluate("Waylink.whenAttributed()")
    assert shop[0].kinds == ["attribution"]
