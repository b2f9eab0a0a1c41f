"""Files that are there whole or not at all, whatever dies while they are written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import BinaryIO

from backend.system.folder_owner import give_to_caller
from backend.system.standard_streams import stream_at


@contextmanager
def whole_or_nothing(path: Path) -> Iterator[BinaryIO]:
    """Open a new file that replaces the one at `path` only if the block ends without an error.

    By then it is safely on disk. Only its owner may read it, since it may contain personal data. Of a
    symbolic link, the file that it leads to is replaced. A device or a pipe is written into, and so is
    whatever stdout or stderr lead to.
    """
    if (stream := stream_at(path)) is not None:
        with os.fdopen(os.dup(stream), "wb") as file:
            yield file
        return
    if path.exists() and not path.is_file():  # before it is resolved: /dev/stdout leads to no name of a pipe
        with path.open("wb") as file:
            yield file
        return
    path = path.resolve()
    unfinished = path.with_name(f"{path.name}.unfinished")
    try:
        with open(unfinished, "wb", opener=partial(os.open, mode=0o600)) as file:
            give_to_caller(file.fileno(), path)
            yield file
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
        _keep_name(path.parent)
    finally:
        unfinished.unlink(missing_ok=True)


def _keep_name(folder: Path) -> None:
    """Have the disk know the names of the folder's files."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
