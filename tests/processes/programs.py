"""Programs that tests run beside the service."""

from __future__ import annotations

import os
import shutil

import pytest


def find_program(name: str, package: str) -> str:
    """The program's path. Without it the test is skipped, in continuous integration it fails."""
    found = shutil.which(name)
    if found:
        return found
    message = f"{name} is not on this machine: apt-get install {package}"
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)
