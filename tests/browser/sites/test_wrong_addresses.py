"""An address at which something else than the service answers is told, once."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.recording_server import SDK, RecordingServer, refuse
from tests.browser.shop_pages import CONVERSION
from tests.browser.visitor import Visitor, in_other_engines

KEY = "c_web_test"
PAGE = "<!doctype html><title>Shop</title>"


def html(status: int) -> Any:
    """Something else than the service, which answers with a page."""
    return lambda _: (status, {"Content-Type": "text/html"}, PAGE)


ELSEWHERE: dict[str, Any] = {
    "nothing of that name": html(404),
    "no such method": html(405),
    "a gateway that lets nobody through": html(403),
    "a page": html(200),
    "JSON of somebody else": lambda _: (200, {}, '{"ok": true}'),
    "nothing at all": lambda _: (204, {}, ""),
}


@pytest.mark.parametrize("answer", ELSEWHERE.values(), ids=ELSEWHERE)
def test_an_address_that_is_not_the_service_s(
    page: Page, said: list[str], server: RecordingServer, answer: Any
) -> None:
    """A bundle: calls go beside it. The console says so once, `init`'s state counts, and sales wait."""
    page.route("**/assets/app.js", lambda route: route.fulfill(path=SDK / "waylink.js"))
    server.head = "<script>delete window.Waylink</script><script src=/assets/app.js></script>"
    server.answer = answer
    page.goto(server.url())
    page.evaluate(f"window.state = Waylink.init({{apiKey: '{KEY}'}}); {CONVERSION}; 0")
    assert page.evaluate(CONVERSION) == {"status": "waiting"}
    page.evaluate(
        "localStorage.removeItem('waylink:c_web_test:pause'), dispatchEvent(new Event('online')); 0"
    )
    server.wait_for(3)
    page.wait_for_function("state.then((state) => state.baseUrl > 1)")
    warnings = [text for text in said if text.startswith("Waylink")]
    assert warnings == [f"Waylink baseUrl {server.url('/assets/app')}"]


@in_other_engines
@pytest.mark.parametrize("answer", [html(405), html(200)], ids=["405", "a page"])
def test_in_other_engines(visitor: Visitor, tmp_path: Path, answer: Any) -> None:
    """A bundle is told there, too: once, with where the calls went, and counted."""
    (tmp_path / "assets").mkdir()
    shutil.copy(SDK / "waylink.js", tmp_path / "assets" / "app.js")
    visitor.server.folder = tmp_path
    visitor.server.head = (
        "<script>window.told = [], console.warn = (...all) => told.push(all.join(' '))</script>"
    )
    visitor.server.head += "<script src=/assets/app.js></script>"
    visitor.server.answer = answer
    visitor.open()
    visitor.js(f"void (window.state = Waylink.init({{apiKey: '{KEY}'}}))")
    assert visitor.js(CONVERSION) == {"status": "waiting"}
    visitor.js(f"void localStorage.removeItem('waylink:{KEY}:pause')")
    assert visitor.js("Waylink.flush()") == 2
    assert visitor.js("state.then((state) => state.baseUrl)") == 2
    assert visitor.js("told") == [f"Waylink baseUrl {visitor.url('/assets/app')}"]


@pytest.mark.parametrize("answer", [refuse(503), refuse(429), html(502)])
def test_a_service_that_is_ill_is_no_wrong_address(
    page: Page, said: list[str], server: RecordingServer, answer: Any
) -> None:
    """Nothing is said of the address when the service, or the proxy before it, asks to wait."""
    server.answer = answer
    page.goto(server.url())
    page.evaluate(f"window.state = Waylink.init({{apiKey: '{KEY}'}}); 0")
    server.wait_for(1)
    assert page.evaluate("state.then((state) => state.baseUrl)") == 0
    assert [text for text in said if text.startswith("Waylink")] == []
