"""Documents as JSON can show them."""

from __future__ import annotations

from datetime import datetime
from typing import Any


def plain(value: Any) -> Any:
    """The value with only types that JSON has: times in ISO 8601, amounts as text."""
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, datetime):
        return value.isoformat()
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
