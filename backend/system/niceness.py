"""How a process in the background gives way to those that somebody waits for."""

from __future__ import annotations

import contextlib
import os


def give_way(niceness: int) -> None:
    """Let other processes have the processor first, as far as the system lets this one do so.

    A process works as well without it. Filters of system calls may forbid it, such as those of containers.
    """
    with contextlib.suppress(OSError):
        os.nice(niceness)
