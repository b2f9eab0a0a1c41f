"""Times as JSON has them, in UTC."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any


def time_json(moment: datetime) -> str:
    """A time in UTC, in whole seconds, with its zone."""
    return f"{seconds_json(moment)}Z"


def exact_time_json(moment: datetime) -> str:
    """A time in UTC, to the millisecond, where the order of what happened may hang on it."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def seconds_json(moment: datetime) -> str:
    """A time in UTC, in whole seconds, without its zone (contract, "Resources and their fields")."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")


def with_times(write: Callable[[datetime], str], values: Mapping[str, Any]) -> dict[str, Any]:
    """The values, with times as such texts."""
    return {name: write(value) if isinstance(value, datetime) else value for name, value in values.items()}
