"""What becomes of an endpoint when a request to it succeeds or fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from backend.domain.feed.events import Event
from backend.domain.webhooks.endpoint import Endpoint

# An endpoint is tried for the last time so long after the first of several failures in a row.
RETRY_PERIOD = timedelta(days=5)
# The pauses between attempts. The last one is used again and again.
RETRY_PAUSES = tuple(
    timedelta(seconds=seconds) for seconds in (5, 30, 120, 600, 1_800, 3_600, 3 * 3_600, 6 * 3_600)
)
# The longest pause that a receiver may ask for.
LONGEST_REQUESTED_PAUSE = timedelta(days=1)
# Pauses are longer by up to this part, so that what failed together is not tried together.
_JITTER = 0.2
LONGEST_ERROR = 500


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a request failed. `pause` is for how long the receiver asks to wait; with `is_gone` it wants no
    more events at all."""

    error: str
    pause: timedelta = timedelta()
    is_gone: bool = False


def succeeded(endpoint: Endpoint, events: Sequence[Event], repeats: int) -> Endpoint:
    """The endpoint after these events arrived, of which `repeats` had been sent before."""
    return replace(
        endpoint,
        cursor=events[-1].cursor,
        cursor_at=max(endpoint.cursor_at, *(_whole(event.at) for event in events)),
        failing_since=None,
        failures=0,
        next_try_at=None,
        last_error=None,
        delivered=endpoint.delivered + len(events),
        repeats=endpoint.repeats + repeats,
    )


def failed(endpoint: Endpoint, failure: Failure, repeats: int, now: datetime, chance: float) -> Endpoint:
    """The endpoint after a request failed now, of whose events `repeats` had been sent before.

    It is put to sleep if it has failed for RETRY_PERIOD, or if its receiver is gone. `chance` is a random
    number from 0 to 1.
    """
    now = _whole(now)
    since = endpoint.failing_since or now
    failures = endpoint.failures + 1
    pause = RETRY_PAUSES[min(failures, len(RETRY_PAUSES)) - 1] * (1 + _JITTER * chance)
    requested = min(failure.pause, LONGEST_REQUESTED_PAUSE)
    sleeps = failure.is_gone or now >= since + RETRY_PERIOD
    return replace(
        endpoint,
        failing_since=since,
        failures=failures,
        next_try_at=None if sleeps else _whole(min(now + max(pause, requested), since + RETRY_PERIOD)),
        slept_at=now if sleeps else None,
        last_error=failure.error[:LONGEST_ERROR],
        repeats=endpoint.repeats + repeats,
    )


def _whole(moment: datetime) -> datetime:
    """The time in whole milliseconds, as MongoDB stores it."""
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)
