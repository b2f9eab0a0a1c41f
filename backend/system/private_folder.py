"""Creates folders that only their owner may enter."""

from __future__ import annotations

import contextlib
from pathlib import Path


def private_folder(folder: Path) -> None:
    """Create the folder, or take an existing one, so that only its owner may enter it."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with contextlib.suppress(PermissionError):  # it belongs to another user, who gave this one access
        folder.chmod(0o700)
