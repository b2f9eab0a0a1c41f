"""A file system of a test's own that can be frozen: whatever writes to it then hangs."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CAN_MOUNT = os.geteuid() == 0 and all(map(shutil.which, ("mkfs.ext4", "mount", "fsfreeze")))
_MEGABYTES = 16


@contextmanager
def mounted_disk(folder: Path) -> Iterator[Path]:
    """A small file system in a file of the folder, mounted for the length of the block. Needs root."""
    image, mounted = folder / "disk.img", folder / "disk"
    mounted.mkdir()
    with image.open("wb") as file:
        file.truncate(_MEGABYTES << 20)
    subprocess.run(["mkfs.ext4", "-q", image], check=True)
    subprocess.run(["mount", "-o", "loop", image, mounted], check=True)
    try:
        yield mounted
    finally:
        subprocess.run(["umount", "--lazy", mounted], check=True)


@contextmanager
def frozen(disk: Path) -> Iterator[None]:
    """Writes to the disk hang for the length of the block."""
    subprocess.run(["fsfreeze", "--freeze", disk], check=True)
    try:
        yield
    finally:
        subprocess.run(["fsfreeze", "--unfreeze", disk], check=True)
