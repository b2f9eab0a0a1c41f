"""Locks a file for one follower at a time."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from backend.follow.target import TargetTaken
from backend.system.folder_owner import give_to_caller

_OWNER_ONLY = 0o600  # it names people


def locked_file(path: Path) -> int:
    """Open and lock the file, and return its descriptor. Raises TargetTaken."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _OWNER_ONLY)
    give_to_caller(descriptor, path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise TargetTaken(f"Another follower writes into {path}.") from None
    return descriptor
