"""Installs the npm packages that tests use, before the first of them runs: `python -m tests.npm_setup`."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sdk_build.node import FOLDER, install_packages

TESTS = Path(__file__).parent
FOLDERS = (
    FOLDER,
    TESTS / "accessibility",
    TESTS / "browser" / "consent" / "platforms",
    TESTS / "api" / "client_checks",
    TESTS / "processes" / "identity_provider",
    TESTS / "sdk" / "package_checks",
    TESTS.parent / "backend" / "dashboard" / "vendored",
    TESTS.parent / "webhook_receiver",
)


def main() -> None:
    """Install what is not there yet, side by side: each waits for the network."""
    with ThreadPoolExecutor() as threads:
        for _ in threads.map(install_packages, FOLDERS):
            pass


if __name__ == "__main__":
    main()
