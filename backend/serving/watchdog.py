"""Ends a worker whose event loop is stuck, and records where it was stuck."""

from __future__ import annotations

import asyncio
import faulthandler
import re
from pathlib import Path
from typing import NoReturn

_THREAD = re.compile(r"^(?:Current thread|Thread) .*$", re.MULTILINE)
_FRAME = re.compile(r'^  File "(.*)", line (\d+) in (.*)$', re.MULTILINE)


async def watch_loop(seconds: float, stack: Path) -> NoReturn:
    """End this process with exit code 1 if its event loop is stuck for this many seconds.

    Runs until cancelled. Before that, the stacks of all threads are written to the file `stack`. The watching
    thread belongs to faulthandler and is written in C: it needs no Python lock, which the stuck code may
    hold.
    """
    with stack.open("w") as file:
        try:
            while True:
                faulthandler.dump_traceback_later(seconds, file=file, exit=True)
                await asyncio.sleep(min(1.0, seconds / 4))
        finally:
            faulthandler.cancel_dump_traceback_later()


def where_it_stood(stack: Path) -> list[str]:
    """The stack of the event loop's thread from a file of `watch_loop`, outermost call first.

    Empty if the process was not ended by its watchdog.
    """
    try:
        text = stack.read_text()
    except OSError:
        return []
    # The loop runs in the main thread, the oldest one, which comes last.
    frames = _FRAME.findall(_THREAD.split(text)[-1])
    return [f"{file}:{line} {function}" for file, line, function in reversed(frames)]
