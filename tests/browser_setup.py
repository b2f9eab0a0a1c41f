"""Finds the Chromium that the tests drive, or installs one: `python -m tests.browser_setup`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
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
DEBIANS_CHROMIUM = "/usr/bin/chromium"
HEADLESS_NAME = "chromium-headless-shell"  # also of Debian's package
# Without a network the tests begin soon all the same.
APT_PATIENCE = ("-o", "Acquire::Retries=0", "-o", "Acquire::http::Timeout=10")
HOW_TO = (
    "No Chromium was found, and none could be installed. Install one with your system's package manager "
    "(on Debian and Ubuntu: apt-get install chromium), or with: .venv/bin/playwright install chromium"
)


def find_chromium() -> str | None:
    """The Chromium on PATH, else Playwright's own, else None."""
    on_path = next((found for found in map(shutil.which, CHROMIUM_NAMES) if found), None)
    return on_path or _playwrights_own()


def find_headless_chromium() -> str | None:
    """Chromium without a window and what belongs to one, if it is on PATH, else the whole Chromium.

    A page costs it a quarter, in the same engine. What such a window does (prerendering, keeping pages that
    are left) needs `find_chromium`.
    """
    return shutil.which(HEADLESS_NAME) or find_chromium()


def _playwrights_own() -> str | None:
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    return own if Path(own).is_file() else None


def install_chromium() -> str | None:
    """Install Chromium by apt where that is possible, else by Playwright; where it is then, or None."""
    for install in (partial(_install_by_apt, "chromium"), _install_by_playwright):
        install()
        found = find_chromium()
        if found:
            return found
    return None


def _install_by_apt(*packages: str) -> None:
    if shutil.which("apt-get") and os.geteuid() == 0:
        print(f"Installing {' and '.join(packages)} by apt ...", flush=True)
        _quietly("apt-get", "update", *APT_PATIENCE)
        _quietly("apt-get", "install", "-y", "--no-install-recommends", *APT_PATIENCE, *packages)


def install_headless_chromium() -> None:
    """Install it beside Debian's Chromium, of the same version: no other distribution has it."""
    if not shutil.which(HEADLESS_NAME) and find_chromium() == DEBIANS_CHROMIUM:
        _install_by_apt("chromium", HEADLESS_NAME)


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
    install_headless_chromium()
    used = dict.fromkeys((executable, find_headless_chromium() or executable))
    for program in used:
        if problem := start_problem(program):
            print(f"{program} does not start: {problem}", file=sys.stderr)
            return 1
    print(f"Chromium: {', '.join(used)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
