"""Browsers for the tests: the machine's own Chromium, without its background traffic."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, expect

from tests.browser.real_service import RealService, new_shop
from tests.browser.recording_server import RecordingServer, recording_server
from tests.browser.visitor import tab, visitor
from tests.browser_setup import find_headless_chromium
from tests.processes.service_process import ServiceProcess

__all__ = ["tab", "visitor"]  # fixtures

# What a page comes to show may take longer than Playwright's five seconds where much else runs.
expect.set_options(timeout=30_000)

LaunchArguments = dict[str, Any]
ContextArguments = dict[str, Any]

QUIET = [
    # One process for the pages of all sites: a new one for each test's site takes half the work of the test.
    "--renderer-process-limit=1",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
    # Names for tests of apex domains and subdomains; *.localhost is loopback anyway.
    "--host-resolver-rules=MAP *.test 127.0.0.1, MAP *.acme.com 127.0.0.1, "
    "MAP *.acme.com.au 127.0.0.1, MAP *.github.io 127.0.0.1, MAP *.kawasaki.jp 127.0.0.1",
]


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: LaunchArguments, browser_name: str) -> LaunchArguments:
    """How Playwright starts the browser."""
    if browser_name == "chromium":
        return browser_type_launch_args | {"executable_path": find_headless_chromium(), "args": QUIET}
    return browser_type_launch_args


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args: ContextArguments) -> ContextArguments:
    """How Playwright opens pages: the kites of the demo shop sway for ever, and each frame is drawn anew."""
    return browser_context_args | {"reduced_motion": "reduce"}


@pytest.fixture(scope="session")
def window(browser: Browser, browser_context_args: ContextArguments) -> Iterator[Page]:
    """The one page of a context that stays open: to open another takes longer than most tests."""
    with browser.new_context(**browser_context_args) as context:
        yield context.new_page()


@pytest.fixture
def page(window: Page) -> Iterator[Page]:
    """A page of somebody who was never here before: the browser has no cookie, and of the test's own server
    nothing at all. What can't be taken back (scripts of every page, another size) is for `fresh_page`.

    It shows what the test before has left there, until this one opens something else.
    """
    context = window.context
    context.clear_cookies()
    yield window
    for opened in context.pages:
        if opened is not window:
            opened.close()
    window.unroute_all()
    context.unroute_all()
    context.set_offline(False)


@pytest.fixture
def fresh_page(browser: Browser, browser_context_args: ContextArguments) -> Iterator[Page]:
    """The page of a context of its own."""
    with browser.new_context(**browser_context_args) as context:
        yield context.new_page()


@pytest.fixture
def empty_page(page: Page) -> Page:
    """The page, with nothing on it of which something might still be heard."""
    page.goto("about:blank")
    return page


@pytest.fixture
def said(empty_page: Page) -> Iterator[list[str]]:
    """What the page's console says in this test."""
    texts: list[str] = []

    def note(message: ConsoleMessage) -> None:
        texts.append(message.text)

    empty_page.on("console", note)
    yield texts
    empty_page.remove_listener("console", note)


@pytest.fixture
def faults(empty_page: Page) -> Iterator[list[str]]:
    """The errors that no script of the page caught, and the rejections that none handled."""
    messages: list[str] = []

    def note(error: Error) -> None:
        messages.append(str(error))

    empty_page.on("pageerror", note)
    yield messages
    empty_page.remove_listener("pageerror", note)


@pytest.fixture
def server() -> Iterator[RecordingServer]:
    """A server of pages and batches."""
    with recording_server() as server:
        yield server


@pytest.fixture(scope="module")
def service_of_shop(running: ServiceProcess) -> RealService:
    """The real service, with an organization whose pages a test serves itself."""
    return new_shop(running)
