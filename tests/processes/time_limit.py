"""A limit on what would never end: it fails, where it stands, and what comes after it goes on."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


class _TimeOver(KeyboardInterrupt):
    """Event loops let go of what they wait for only for interruptions; they log any other error and go on."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """The block fails when it takes longer, and says what each task of its event loop waits for.

    Only for the main thread.
    """

    def interrupt(*_: object) -> None:
        raise _TimeOver(_waiting_tasks())

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    except _TimeOver as over:
        pytest.fail(f"did not end within {seconds:g} seconds\n{over}")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _waiting_tasks() -> str:
    """What the tasks of the running event loop await, if one runs."""
    try:
        tasks = asyncio.all_tasks()
    except RuntimeError:
        return ""
    return "\n".join(f"{task.get_name()}: {' > '.join(_awaited(task.get_coro()))}" for task in tasks)


def _awaited(coroutine: Any) -> Iterator[str]:
    """Where a coroutine stands, where the one that it awaits stands, and so on."""
    while frame := getattr(coroutine, "cr_frame", None):
        yield f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno} {frame.f_code.co_name}"
        coroutine = coroutine.cr_await
    if coroutine is not None:
        yield repr(coroutine)
