"""From when on there are single clicks of an organization. Older ones are added up
(storage/clicks/expired_days)."""

from __future__ import annotations

from datetime import datetime, timedelta


def single_clicks_since(days: int | None, now: datetime) -> datetime | None:
    """From when on all single clicks are there, at `now`; None if they are kept without limit."""
    return None if days is None else now - timedelta(days=days)
