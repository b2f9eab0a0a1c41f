"""Rate limits, and how much of them is used."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Limit:
    """`amount` requests in `seconds`. A window starts with its first request. `name` tells limits apart."""

    name: str
    amount: int
    seconds: float = 60.0


class LimitState(NamedTuple):
    """The state of a limit for a key or an address: how much is left, and when the window ends.

    `reset_after` is in seconds, rounded up.
    """

    allowed: bool
    limit: int
    remaining: int
    reset_after: int


def state_of(limit: Limit, count: int, seconds_left: float, *, allowed: bool) -> LimitState:
    """The state of a limit after `count` requests, `seconds_left` before its window ends."""
    return LimitState(allowed, limit.amount, max(0, limit.amount - count), max(1, math.ceil(seconds_left)))
