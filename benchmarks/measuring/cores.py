"""Assigns processor cores: the measured server gets a core of its own, as if it were alone on a machine.

Otherwise wrk, MongoDB and the server compete for cores, and two runs of a benchmark differ by a third.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

_THIS_PROCESS = 0


def leave_a_core() -> int | None:
    """Keep this process, and all that it starts from now on, off one core. Returns that core; None if there
    is only one.
    """
    *others, free_core = _cores() or [0]
    if not others:
        return None
    os.sched_setaffinity(_THIS_PROCESS, others)
    return free_core


def move_to(core: int, processes: Iterable[int]) -> None:
    """Run these processes, with all their threads, on this core only."""
    for process in processes:
        for thread in Path(f"/proc/{process}/task").iterdir():
            os.sched_setaffinity(int(thread.name), {core})


def _cores() -> list[int]:
    """The cores that this process may use; none if the system can't tell."""
    return sorted(os.sched_getaffinity(_THIS_PROCESS)) if hasattr(os, "sched_getaffinity") else []
