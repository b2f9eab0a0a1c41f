"""WebKitGTK for tests: its MiniBrowser, driven by selenium, on a screen of its own."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.polling import wait_for
from tests.processes.service_process import free_port

if TYPE_CHECKING:
    from selenium.webdriver.remote.webdriver import WebDriver

DRIVER = "WebKitWebDriver"
SCREEN = "Xvfb"
HOW_TO_INSTALL = "apt-get install webkit2gtk-driver xvfb"
# Where distributions put what is not meant to be started by hand.
LIBRARY_FOLDERS = ("/usr/lib", "/usr/libexec", "/usr/lib64")
DEADLINE = 30  # seconds for the driver to start, for a page, and for a script
# selenium passes a script's value to a callback; a failed promise comes as the text of its error.
_AWAITED = """
const [expression, done] = arguments;
Promise.resolve().then(() => (0, eval)(expression)).then(
  (value) => done({ value: value === undefined ? null : value }),
  (error) => done({ error: String(error) }),
);
"""


def find_minibrowser() -> Path | None:
    """The browser that belongs to the driver, or None."""
    found = (
        path for folder in LIBRARY_FOLDERS for path in Path(folder).glob("**/webkit2gtk-4.*/MiniBrowser")
    )
    return max(found, default=None)


def is_installed() -> bool:
    """Whether all three parts are there."""
    return bool(shutil.which(DRIVER) and shutil.which(SCREEN) and find_minibrowser())


class WebKitTab:
    """A tab that selenium drives."""

    def __init__(self, driver: WebDriver) -> None:
        self._driver = driver

    def goto(self, url: str) -> None:
        """Open a page, and wait until it has loaded."""
        self._driver.get(url)

    def js(self, expression: str) -> Any:
        """The value of an expression in the page, awaited; raises AssertionError with the page's error."""
        answer = self._driver.execute_async_script(_AWAITED, expression)
        assert "error" not in answer, answer.get("error")
        return answer["value"]

    def click(self, selector: str) -> None:
        """Click an element as a visitor does."""
        self._driver.find_element("css selector", selector).click()

    def cookies(self) -> list[dict[str, Any]]:
        """The cookies that the page's host gets."""
        return list(self._driver.get_cookies())


@contextmanager
def webkit_driver() -> Iterator[str]:
    """A running WebKitWebDriver with a screen of its own; its address."""
    with _screen() as display:
        port = free_port()
        environment = os.environ | {"DISPLAY": display}
        driver = subprocess.Popen([_on_path(DRIVER), f"--port={port}"], env=environment)
        try:
            _wait_for_port(port, driver)
            yield f"http://127.0.0.1:{port}"
        finally:
            _stop(driver)


@contextmanager
def webkit_tab(address: str) -> Iterator[WebKitTab]:
    """A tab of a fresh browser."""
    # Late: every process of tests collects those of browsers, and few of them open WebKit.
    from selenium import webdriver
    from selenium.webdriver.remote.client_config import ClientConfig
    from selenium.webdriver.remote.remote_connection import RemoteConnection

    options = webdriver.WebKitGTKOptions()
    options.binary_location = str(find_minibrowser())
    options.add_argument("--automation")
    options.set_capability("acceptInsecureCerts", True)
    connection = RemoteConnection(client_config=ClientConfig(address, timeout=DEADLINE))
    driver = webdriver.Remote(connection, options=options)
    driver.set_script_timeout(DEADLINE)
    try:
        yield WebKitTab(driver)
    finally:
        driver.quit()


@contextmanager
def _screen() -> Iterator[str]:
    readable, writable = os.pipe()
    # Without -noreset the server restarts when its last client leaves, and the next browser may miss it.
    command = [_on_path(SCREEN), "-displayfd", str(writable), "-noreset", "-screen", "0", "1280x900x24"]
    server = subprocess.Popen(command, pass_fds=[writable], stderr=subprocess.DEVNULL)
    os.close(writable)
    try:
        with os.fdopen(readable) as numbers:
            yield f":{numbers.readline().strip()}"
    finally:
        _stop(server)


def _on_path(command: str) -> str:
    found = shutil.which(command)
    assert found, f"{command} is not installed: {HOW_TO_INSTALL}"
    return found


def _wait_for_port(port: int, process: subprocess.Popen[bytes]) -> None:
    def listens() -> bool:
        assert process.poll() is None, f"{DRIVER} ended with status {process.returncode}"
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    wait_for(listens, f"{DRIVER} does not listen on port {port}", seconds=DEADLINE)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    process.wait(DEADLINE)
