"""What a browser receives of the SDK from a running service."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from backend.web.sdk_files import build, integrity
from benchmarks.measuring.received_bytes import received_bytes
from sdk_build.node import install_packages
from tests.browser.real_service import RealService
from tests.processes.local_server import Silent, local_server

DIST = Path(__file__).parents[3] / "sdk_dist"
PINNED = """<!doctype html><title>Shop</title><script src="{base_url}/waylink-{build}.js"
 integrity="{integrity}" crossorigin="anonymous"></script>"""
ISOLATED = """<!doctype html><title>Shop</title><script src="{base_url}/waylink.js"></script>"""


def test_chromium_takes_brotli_and_asks_once(fresh_page: Page, service_of_shop: RealService) -> None:
    """The script arrives as the bytes of its Brotli file, and on the next page not at all."""
    page, answers = fresh_page, []
    page.on(
        "response",
        lambda response: answers.append(response) if response.url.endswith("/waylink.js") else None,
    )
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
    assert [answer.header_value("Content-Encoding") for answer in answers] == ["br", "br"]


def test_what_the_benchmark_prints(browser: Browser) -> None:
    """`python -m benchmarks.sdk` counts the bytes that a browser receives, with and without compression."""
    install_packages()
    (received,) = received_bytes(browser, [(DIST / "waylink.js").read_text()])
    endings = {"identity": "", "gzip": ".gz", "br": ".br"}
    assert received == {
        coding: (DIST / f"waylink.js{ending}").stat().st_size for coding, ending in endings.items()
    }


@pytest.mark.parametrize(
    ("html", "loads"),
    [
        (PINNED, True),
        (PINNED.replace("{integrity}", "sha384-" + "A" * 64), False),
        (PINNED.replace("{build}", "0123456789ab"), True),
        (ISOLATED, True),
    ],
    ids=["pinned", "another hash", "the address of another build", "not pinned"],
)
def test_other_sites_may_load_it(page: Page, service_of_shop: RealService, html: str, loads: bool) -> None:
    """A page of another site that isolates itself gets the script, pinned by its hash or not."""
    body = html.format(base_url=service_of_shop.base_url, build=build(), integrity=integrity())

    class Site(Silent, BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
            self.send_header("Cross-Origin-Opener-Policy", "same-origin")
            self.end_headers()
            self.wfile.write(body.encode())

    with local_server(Site) as server:
        page.goto(f"http://shop.localhost:{server.server_port}/")
    assert page.evaluate("[crossOriginIsolated, 'Waylink' in window]") == [True, loads]
