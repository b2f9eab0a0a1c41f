"""Firefox and WebKit behind the face that Chromium gets, too, so that one test runs in each engine."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NoReturn, Protocol

import pytest
from playwright.sync_api import Page, Playwright

from tests.browser import webkit

FIREFOX_NAMES = ("firefox-esr", "firefox")
# Neither its own background traffic nor its blocker of windows that a script opens.
FIREFOX_PREFERENCES: dict[str, str | float | bool] = {
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "dom.disable_open_during_load": False,
    # One process for all pages, and none that is started in case: each takes half a second of work.
    "dom.ipc.processCount": 1,
    "dom.ipc.processPrelaunch.enabled": False,
    "fission.autostart": False,
    # The window around the page, which nobody sees, takes more work than the page.
    "layout.frame_rate": 10,
    "browser.chrome.site_icons": False,
    "ui.prefersReducedMotion": 1,
    "places.history.enabled": False,
    "browser.sessionstore.interval": 3_600_000,
    "browser.sessionstore.resume_from_crash": False,
    # Nothing is fetched from Mozilla's settings servers; a release heeds it where the environment says so.
    "services.settings.server": "data:,#remote-settings-dummy/v1",
}
FIREFOX_ENVIRONMENT = {"MOZ_REMOTE_SETTINGS_DEVTOOLS": "1"}


class Tab(Protocol):
    """A tab of a browser."""

    def goto(self, url: str) -> None:
        """Open a page, and wait until it has loaded."""

    def js(self, expression: str) -> Any:
        """The value of an expression in the page, awaited."""

    def click(self, selector: str) -> None:
        """Click an element as a visitor does."""

    def cookies(self) -> list[dict[str, Any]]:
        """The cookies that the page's host gets: at least `name`, `value` and `domain` of each."""


class PlaywrightTab:
    """A tab that Playwright drives."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def goto(self, url: str) -> None:
        """Open a page, and wait until it has loaded."""
        self._page.goto(url)

    def js(self, expression: str) -> Any:
        """The value of an expression in the page, awaited."""
        return self._page.evaluate(expression)

    def click(self, selector: str) -> None:
        """Click an element as a visitor does."""
        self._page.click(selector)

    def cookies(self) -> list[dict[str, Any]]:
        """The cookies that the page's host gets."""
        return [dict(cookie) for cookie in self._page.context.cookies(self._page.url)]


@contextmanager
def open_firefox(playwright: Playwright) -> Iterator[Tab]:
    """The machine's Firefox, by Playwright over WebDriver BiDi."""
    found = next((path for path in map(shutil.which, FIREFOX_NAMES) if path), None)
    executable = found or _missing("Firefox", "apt-get install firefox-esr")
    with playwright.firefox.launch(
        channel="moz-firefox",
        executable_path=executable,
        firefox_user_prefs=FIREFOX_PREFERENCES,
        env={**os.environ, **FIREFOX_ENVIRONMENT},
    ) as browser:
        yield PlaywrightTab(browser.new_page())


@contextmanager
def open_webkit(_: Playwright) -> Iterator[Tab]:
    """WebKitGTK, by selenium."""
    if not webkit.is_installed():
        _missing("WebKitGTK", webkit.HOW_TO_INSTALL)
    with webkit.webkit_driver() as address, webkit.webkit_tab(address) as tab:
        yield tab


# Beside Chromium, in which all tests in a browser run.
ENGINES: dict[str, Callable[[Playwright], AbstractContextManager[Tab]]] = {
    "webkit": open_webkit,
    "firefox": open_firefox,
}


def _missing(browser: str, how_to_install: str) -> NoReturn:
    """Skip the test, and say what to install; continuous integration has every browser, so there it fails."""
    message = f"{browser} is not installed; on Debian and Ubuntu: {how_to_install}"
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)
