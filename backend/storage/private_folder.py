"""Folders of the service's own."""

from __future__ import annotations

import contextlib
from pathlib import Path


def private_folder(folder: Path) -> None:
    """Make the folder, which nobody but its owner may enter, also where it was there before."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with contextlib.suppress(PermissionError):  # it is another user's, who has let this one in
        folder.chmod(0o700)
