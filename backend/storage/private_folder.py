"""Folders of the service's own."""

from __future__ import annotations

import contextlib
from pathlib import Path


def private_folder(folder: Path) -> None:
    """Make the folder, which nobody but its owner may enter, also where it was there before."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with contextlib.suppress(PermissionError):  # it belongs to another user, who gave this one access
        folder.chmod(0o700)
