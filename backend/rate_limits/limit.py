"""What a rate limit is, and where somebody stands with one."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limit:
    """`amount` in `seconds`; a window begins with the first that is counted. `name` tells limits apart."""

    name: str
    amount: int
    seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class LimitState:
    """Where a key or an address stands: what is left, and seconds, rounded up, until the window ends."""

    allowed: bool
    limit: int
    remaining: int
    reset_after: int


def state_of(limit: Limit, count: int, seconds_left: float, *, allowed: bool) -> LimitState:
    """The state after `count` was counted."""
    return LimitState(allowed, limit.amount, max(0, limit.amount - count), max(1, math.ceil(seconds_left)))
