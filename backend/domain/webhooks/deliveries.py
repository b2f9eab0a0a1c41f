"""Deliveries: attempts to send events to an endpoint."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

MOST_IDS = 10


@dataclass(frozen=True, slots=True)
class Delivery:
    """An attempt, made at `at`: one request.

    `webhook_id` is what the request was called. It had so many `events`; `event_ids` are those of the first
    MOST_IDS. `status` is what was answered, None where nothing was. `error` says what was wrong, None if
    nothing was. `attempt` counts how often the request was made in a row, from 1; `repeats` is how many of
    its events had been in an earlier request. With `is_test` somebody asked for it, and nothing had happened.
    """

    webhook_id: str
    at: datetime
    events: int
    event_ids: tuple[str, ...]
    status: int | None
    milliseconds: int
    error: str | None = None
    attempt: int = 1
    repeats: int = 0
    is_test: bool = False
