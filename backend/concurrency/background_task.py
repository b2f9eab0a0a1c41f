"""Tasks that run in the background, beside requests."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine
from typing import Any, NoReturn

from backend.concurrency.retrying import Retries, keep_trying

# Seconds after which work that failed before, and goes on again, counts as working.
_PROVEN_AFTER = 3.0
_LOG_EVERY = 30  # failures in a row: a minute
_logger = logging.getLogger(__name__)
# Called with the name of work, each time that it fails. A service counts these; commands have no metrics.
when_failed: list[Callable[[str], object]] = []


def tell_failed(name: str) -> None:
    """Tell those who count failures that the work with this name failed."""
    for tell in when_failed:
        tell(name)


class BackgroundTask:
    """Runs `work` from `start` until `stop`, whatever errors it raises.

    If the work raises an error or ends by itself, that is logged and counted, `failures` describes it, and
    the work starts again after a pause. `name` says what the work does, such as "shipping clicks".
    """

    def __init__(self, name: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self.name = name
        self._work = work
        self._task: asyncio.Task[NoReturn] | None = None
        self._retries = Retries(proven_after=_PROVEN_AFTER)
        self._failed_with = ""  # the name of the last error

    async def start(self) -> None:
        """Start the work."""
        self._task = asyncio.create_task(keep_trying(self._run, Exception, self._note, self._retries))

    async def stop(self) -> None:
        """Stop the work and wait until it has ended."""
        if self._task:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    @property
    def failures(self) -> list[str]:
        """A description of the failing work and its error; none once it runs for some seconds without one."""
        return [f"{self.name}: {self._failed_with}"] if self._retries.is_failing else []

    async def _run(self) -> NoReturn:
        await self._work()
        raise RuntimeError("it ended by itself")

    def _note(self, error: Exception) -> None:
        self._failed_with = type(error).__name__
        tell_failed(self.name)
        if self._retries.failures % _LOG_EVERY == 1:
            _logger.error("Background work failed and begins again: %s", self.name, exc_info=error)
