"""Tells each time that MongoDB has answered, for whoever has to know that a process comes further."""

from __future__ import annotations

from collections.abc import Callable

from pymongo import monitoring


class _Listener(monitoring.CommandListener):
    def __init__(self, tell: Callable[[], object]) -> None:
        self._tell = tell

    def started(self, event: monitoring.CommandStartedEvent) -> None:
        """It is not answered yet."""

    def succeeded(self, event: monitoring.CommandSucceededEvent) -> None:
        self._tell()

    def failed(self, event: monitoring.CommandFailedEvent) -> None:
        """It comes no further."""


def when_answered(tell: Callable[[], object]) -> None:
    """Have `tell` called, in any thread, after each answer to databases that are opened from now on."""
    monitoring.register(_Listener(tell))
