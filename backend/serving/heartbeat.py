"""Shows the supervisor that a worker's event loop turns, and ends a worker from which nothing is heard.

A worker sends a beat down its pipe as often as its loop turns. The supervisor measures the silence between
them, so a process that was stopped from outside is noticed like one whose loop hangs.
"""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import os
import re
import signal
from enum import Enum, auto
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

from backend.concurrency.processes import is_stopped

# Seconds between two looks of the supervisor, at most.
TICK = 1.0
# Seconds of silence that are not the event loop's: while a worker imports the application on a busy machine,
# and while it ends after its last answer, with the last clicks and its MongoDB.
FIRST_SECONDS = 60.0
LAST_SECONDS = 30.0
# A worker that was told to end has this long to write down its stack. It never does if a debugger holds the
# signal back.
_STACK_SECONDS = 1.0
# By default, the system ends a process with it, so it also ends one that has registered no handler.
_END = signal.SIGUSR2
_THREAD = re.compile(r"^(?:Current thread|Thread) .*$", re.MULTILINE)
_FRAME = re.compile(r'^  File "(.*)", line (\d+) in (.*)$', re.MULTILINE)


class WorkerNews(Enum):
    """What a worker tells the supervisor. If it can't start, it tells the reason, a text."""

    BEAT = auto()
    READY = auto()  # it answers
    LEAVING = auto()  # its loop ends, and with it the beats


def tell(supervisor: Connection, news: WorkerNews | str) -> None:
    """Tell the supervisor, without waiting: a supervisor that was stopped does not read."""
    with contextlib.suppress(OSError):
        supervisor.send(news)


def leave_stack_at_end(stack: Path) -> None:
    """Have this process write the stacks of its threads to the file as the supervisor ends it.

    The handler belongs to faulthandler and is written in C: it needs no Python lock, which the stuck code may
    hold.
    """
    faulthandler.register(_END, stack.open("w"), all_threads=True, chain=True)


async def beat(supervisor: Connection, seconds: float) -> None:
    """Tell the supervisor that this event loop turns, until cancelled. It may be silent for `seconds`."""
    os.set_blocking(supervisor.fileno(), False)
    try:
        while True:
            tell(supervisor, WorkerNews.BEAT)
            await asyncio.sleep(pause_of(seconds))
    finally:
        tell(supervisor, WorkerNews.LEAVING)


def pause_of(seconds: float) -> float:
    """The seconds between two beats, and two looks for them, where silence may last `seconds`."""
    return min(TICK, seconds / 4)


class Silence:
    """How long a worker has been silent. Ends a worker that is silent for too long."""

    def __init__(self, process: BaseProcess, seconds: float) -> None:
        """The worker's event loop may stand still for this many seconds."""
        self._process = process
        self._loop_seconds = seconds
        self._allowed = max(FIRST_SECONDS, seconds)
        self._lasted = 0.0
        self.ended_after = 0.0  # the seconds for which it had been silent when it was ended; 0: it was not
        self.reason = "its event loop had not turned"

    def end_by(self, news: WorkerNews | str) -> None:
        """Note that the worker has sent this news."""
        self._lasted = 0.0
        leaves = news is WorkerNews.LEAVING or isinstance(news, str)
        self._allowed = max(LAST_SECONDS, self._loop_seconds) if leaves else self._loop_seconds

    def add(self, seconds: float) -> None:
        """Note that the silence lasts this many seconds more. If it has lasted too long, end the worker."""
        self._lasted += seconds
        if self.ended_after:
            if self._lasted > _STACK_SECONDS:
                self._process.kill()
        elif self._lasted > self._allowed:
            self.ended_after, self._lasted = self._allowed, 0.0
            self._end()

    def _end(self) -> None:
        if not self._process.is_alive():  # waited for, so that its id may be another's by now
            return
        assert self._process.pid
        if is_stopped(self._process.pid):
            self.reason = "it had been stopped from outside (by SIGSTOP or a debugger)"
        for number in (_END, signal.SIGCONT):  # one that is stopped hears of the first with the second
            os.kill(self._process.pid, number)


def stuck_at(stack: Path) -> list[str]:
    """The stack of the event loop's thread from the file of `leave_stack_at_end`, outermost call first.

    Empty if the process was not ended by `Silence`, or could not write it.
    """
    try:
        text = stack.read_text()
    except OSError:
        return []
    # The loop runs in the main thread, the oldest one, which comes last.
    frames = _FRAME.findall(_THREAD.split(text)[-1])
    return [f"{file}:{line} {function}" for file, line, function in reversed(frames)]
