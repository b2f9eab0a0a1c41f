"""A visitor of a shop, in each of the engines, or in some."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Playwright

from tests.browser.engines import ENGINES, PlaywrightTab, Tab
from tests.browser.recording_server import RecordingServer

INIT = "Waylink.init({apiKey: 'c_web_test'})"
SENTINEL = "Waylink.trackEvent('sentinel')"
# For tests of what only JavaScript decides, which all engines run alike.
in_chromium = pytest.mark.parametrize("tab", ["chromium"], indirect=True)
# A test costs Firefox ten times what it costs WebKit: what only JavaScript decides does not run there.
in_webkit = pytest.mark.parametrize("tab", ["webkit"], indirect=True)
beside_firefox = pytest.mark.parametrize("tab", ["chromium", "webkit"], indirect=True)
# For tests of what others show in Chromium.
in_other_engines = pytest.mark.parametrize("tab", ENGINES, indirect=True)


@dataclass
class Visitor:
    """A visitor of a shop on a host name of its own: the browser has no cookie and no storage of it."""

    tab: Tab
    server: RecordingServer
    shop: str

    def url(self, path: str = "/", subdomain: str = "") -> str:
        """The address of one of the shop's pages."""
        return self.server.url(path, subdomain + self.shop)

    def open(self, path: str = "/", subdomain: str = "") -> None:
        """Open a page on which the SDK is loaded, not started."""
        self.tab.goto(self.url(path, subdomain))

    def visit(self, path: str = "/", subdomain: str = "") -> None:
        """Open a page and wait until the SDK has started."""
        self.open(path, subdomain)
        self.js(INIT)

    def js(self, expression: str) -> Any:
        """The value of an expression in the page, awaited."""
        return self.tab.js(expression)

    @property
    def sent(self) -> list[str]:
        """What arrived, in order: an event by its name, any other call by its kind."""
        return [call.get("name") or call["kind"] for call in self.server.calls]

    def expect(self, *expected: str) -> None:
        """These calls have arrived and no other: the sentinel that is sent now comes right after them."""
        self.js(SENTINEL)
        self.server.wait_for(len(expected) + 1)
        assert self.sent == [*expected, "sentinel"]


@pytest.fixture(scope="session", params=["chromium", *ENGINES])
def tab(request: pytest.FixtureRequest, playwright: Playwright) -> Iterator[Tab]:
    """A tab in one of the engines, for all tests that a process runs in it: engines take long to start."""
    if request.param == "chromium":
        yield PlaywrightTab(request.getfixturevalue("window"))
        return
    with ENGINES[request.param](playwright) as tab:
        yield tab


@pytest.fixture
def visitor(tab: Tab, server: RecordingServer) -> Visitor:
    """Somebody who was never here before. *.localhost is loopback and a secure context in every engine."""
    return Visitor(tab, server, f"shop-{uuid.uuid4().hex[:12]}.localhost")
