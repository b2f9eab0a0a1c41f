"""Tasks that run in the background, beside requests."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Coroutine
from typing import Any

from backend.concurrency.pauses import pause_after

# Seconds after which work that failed before, and goes on again, counts as working.
_PROVEN = 3.0
_LOG_EVERY = 30  # failures in a row: a minute
_logger = logging.getLogger(__name__)
# Called with the name of work, each time that it fails. A service counts these; commands have no metrics.
when_failed: list[Callable[[str], object]] = []


class BackgroundTask:
    """Runs `work` from `start` until `stop`, whatever errors it raises.

    If the work raises an error or ends by itself, that is logged and counted, `failure` describes it, and the
    work starts again after a pause. `name` says what the work does, such as "shipping clicks".
    """

    def __init__(self, name: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self.name = name
        self._work = work
        self._task: asyncio.Task[None] | None = None
        self._failures = 0  # in a row
        self._failed_with = ""
        self._began: float | None = None  # None: it pauses after a failure

    def start(self) -> None:
        """Start the work."""
        self._task = asyncio.create_task(self._go_on())

    async def stop(self) -> None:
        """Stop the work and wait until it has ended."""
        if self._task:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    @property
    def failure(self) -> str | None:
        """A description of the failing work and its error; None once it runs for some seconds without one."""
        if not self._failures or self._is_proven():
            return None
        return f"{self.name}: {self._failed_with}"

    def _is_proven(self) -> bool:
        return self._began is not None and time.monotonic() - self._began > _PROVEN

    async def _go_on(self) -> None:
        while True:
            self._began = time.monotonic()
            try:
                await self._work()
                raise RuntimeError("it ended by itself")
            except Exception as error:
                self._note(error)
                await asyncio.sleep(pause_after(self._failures))

    def _note(self, error: Exception) -> None:
        self._failures = 1 if self._is_proven() else self._failures + 1
        self._failed_with, self._began = type(error).__name__, None
        for tell in when_failed:
            tell(self.name)
        if self._failures % _LOG_EVERY == 1:
            _logger.error("Background work failed and begins again: %s", self.name, exc_info=error)
