"""Creates folders that only their owner may enter."""

from __future__ import annotations

from pathlib import Path


def private_folder(folder: Path) -> None:
    """Create the folder so that only its owner may enter it. One that is there stays as somebody made it."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
