"""The streams that a process is started with, where somebody names one as a file."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

STDOUT, STDERR = 1, 2


def stream_at(path: Path) -> int | None:
    """The descriptor of this process's stdout or stderr where the path leads there, as /dev/stdout does."""
    with suppress(OSError):
        named = path.stat()
        for descriptor in (STDOUT, STDERR):
            if os.path.samestat(named, os.fstat(descriptor)):
                return descriptor
    return None


def are_for_stdout(values: Iterable[object]) -> bool:
    """Whether one of these is the path of stdout, and a program or a file has what is written there."""
    paths = [value for value in values if isinstance(value, Path)]
    return any(stream_at(path) == STDOUT for path in paths) and not (
        os.isatty(STDOUT) or os.path.samestat(Path(os.devnull).stat(), os.fstat(STDOUT))
    )
