"""Stops processes for a while, as Ctrl-Z or a debugger does."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.polling import wait_for


@contextmanager
def suspended(*pids: int) -> Iterator[None]:
    """The processes neither answer nor close connections for the length of the block."""
    for pid in pids:
        suspend(pid)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def suspend(pid: int) -> None:
    """Stop a process. On a busy machine its threads go on until one of them gets the signal in its turn."""
    os.kill(pid, signal.SIGSTOP)
    wait_for(lambda: _states(pid), f"process {pid} goes on", lambda states: states <= {"T", "Z"})


def _states(pid: int) -> set[str]:
    """The states of the process's threads, as ps shows them."""
    states: set[str] = set()
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):  # it has just ended
            # Behind the name, which is in parentheses and may have any character.
            states.add((thread / "stat").read_text().rpartition(")")[2].split()[0])
    return states
