"""The current time. Only app.py and the command line ask for it; they pass it, or a clock, to the rest."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

# Returns the current time in UTC. Tests pass one that they can set.
Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The current time in UTC, by this machine's clock."""
    return datetime.now(UTC)
