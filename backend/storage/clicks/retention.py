"""Says since when an organization has single clicks. Older clicks are added up
(storage/clicks/expired_days)."""

from __future__ import annotations

from datetime import datetime, timedelta


def single_clicks_since(days: int | None, now: datetime) -> datetime | None:
    """The time since which all single clicks are kept at `now`; None if they are kept without limit."""
    return None if days is None else now - timedelta(days=days)
