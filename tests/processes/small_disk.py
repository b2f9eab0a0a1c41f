"""A file system of a test's own that is full."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.processes.programs import find_program

_MEGABYTES = 2


@contextmanager
def full_disk(folder: Path) -> Iterator[Path]:
    """One in memory, mounted below the folder for the length of the block; it is as full as it can be.

    Where nothing can be mounted the test is skipped, in continuous integration it fails.
    """
    mount, mounted = find_program("mount", "mount"), folder / "full"
    mounted.mkdir()
    command = [mount, "-t", "tmpfs", "-o", f"size={_MEGABYTES}m", "tmpfs", str(mounted)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"nothing can be mounted: {done.stderr}")
    try:
        with (mounted / "all of it").open("wb", buffering=0) as file:
            while file.write(b"x" * 65_536) == 65_536:
                pass
    except OSError:
        pass
    try:
        yield mounted
    finally:
        subprocess.run(["umount", "--lazy", mounted], check=True)
