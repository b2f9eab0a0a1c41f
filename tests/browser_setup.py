"""Finds the Chromium that the tests drive, or installs one: `python -m tests.browser_setup`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Error, sync_playwright

# Names under which distributions install it; the last is macOS's.
CHROMIUM_NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
HOW_TO = (
    "No Chromium was found, and none could be installed. Install one with your system's package manager "
    "(on Debian and Ubuntu: apt-get install chromium), or with: .venv/bin/playwright install chromium"
)


def find_chromium() -> str | None:
    """The Chromium on PATH, else Playwright's own, else None."""
    on_path = next((found for found in map(shutil.which, CHROMIUM_NAMES) if found), None)
    return on_path or _playwrights_own()


def _playwrights_own() -> str | None:
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    return own if Path(own).is_file() else None


def install_chromium() -> str | None:
    """Install Chromium by apt where that is possible, else by Playwright; where it is then, or None."""
    for install in (_install_by_apt, _install_by_playwright):
        install()
        found = find_chromium()
        if found:
            return found
    return None


def _install_by_apt() -> None:
    if shutil.which("apt-get") and os.geteuid() == 0:
        print("Installing Chromium by apt ...", flush=True)
        _quietly("apt-get", "update")
        _quietly("apt-get", "install", "-y", "--no-install-recommends", "chromium")


def _install_by_playwright() -> None:
    print("Installing Chromium by Playwright ...", flush=True)
    _quietly(sys.executable, "-m", "playwright", "install", "chromium")


def _quietly(*command: str) -> None:
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(command, env=environment, capture_output=True, check=False)


def start_problem(executable: str) -> str | None:
    """Why this Chromium does not start (a library that is missing, most likely), or None."""
    try:
        with sync_playwright() as playwright:
            playwright.chromium.launch(executable_path=executable).close()
    except Error as error:
        return str(error).splitlines()[0]
    return None


def main(install: Callable[[], str | None] = install_chromium) -> int:
    """Say which Chromium the tests use; 1 when there is none that starts."""
    executable = find_chromium() or install()
    if not executable:
        print(HOW_TO, file=sys.stderr)
        return 1
    problem = start_problem(executable)
    if problem:
        print(f"{executable} does not start: {problem}", file=sys.stderr)
        return 1
    print(f"Chromium: {executable}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
