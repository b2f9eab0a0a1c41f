"""What time it is. Only what puts the parts together, or runs them, asks; everything below is told."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

# Returns the current time in UTC. Tests pass one that they can set.
Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The current time in UTC, by this machine's clock."""
    return datetime.now(UTC)
