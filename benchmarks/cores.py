"""Which processor cores do what: the measured server has one of its own, like a server beside its database.

Otherwise wrk, MongoDB and the server push each other around, and two runs of one benchmark differ by a third.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

_THIS_PROCESS = 0


def leave_a_core() -> int | None:
    """Keep this process, and all that it starts from now on, off one of its cores: which, if it has two."""
    *others, left = _cores() or [0]
    if not others:
        return None
    os.sched_setaffinity(_THIS_PROCESS, others)
    return left


def move_to(core: int, processes: Iterable[int]) -> None:
    """Run these processes, with all their threads, on this core."""
    for process in processes:
        for thread in Path(f"/proc/{process}/task").iterdir():
            os.sched_setaffinity(int(thread.name), {core})


def _cores() -> list[int]:
    """The cores that this process may use; none where the system can't tell."""
    return sorted(os.sched_getaffinity(_THIS_PROCESS)) if hasattr(os, "sched_getaffinity") else []
