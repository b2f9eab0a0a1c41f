"""What a browser receives of the SDK from a running service."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page

from benchmarks.received_bytes import received_bytes
from tests.browser.real_service import RealService

DIST = Path(__file__).parents[2] / "sdk_dist"


def test_chromium_takes_brotli_and_asks_once(page: Page, service_of_shop: RealService) -> None:
    """The script arrives as the bytes of its Brotli file, and on the next page not at all."""
    answers = []
    page.on("response", lambda each: answers.append(each) if each.url.endswith("/waylink.js") else None)
    page.goto(f"{service_of_shop.base_url}/healthz")
    for _ in range(2):
        page.add_script_tag(url="/waylink.js")
        assert page.evaluate("typeof Waylink.init") == "function"
        received = page.evaluate(
            "performance.getEntriesByName(new URL('/waylink.js', location).href)[0].toJSON()"
        )
        assert received["encodedBodySize"] == (DIST / "waylink.js.br").stat().st_size
        assert received["decodedBodySize"] == (DIST / "waylink.js").stat().st_size
        page.goto(f"{service_of_shop.base_url}/readyz")
    assert received["transferSize"] == 0
    assert [each.header_value("Content-Encoding") for each in answers] == ["br", "br"]


def test_what_the_benchmark_prints(page: Page) -> None:
    """`python -m benchmarks.sdk` counts the bytes that a browser receives, with and without compression."""
    browser = page.context.browser
    assert browser is not None
    (received,) = received_bytes(browser, [(DIST / "waylink.js").read_text()])
    endings = {"identity": "", "gzip": ".gz", "br": ".br"}
    assert received == {
        coding: (DIST / f"waylink.js{ending}").stat().st_size for coding, ending in endings.items()
    }
