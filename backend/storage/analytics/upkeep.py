"""Keeps the columns of a host true where nobody asks: what was erased or deleted goes there too."""

from __future__ import annotations

from datetime import timedelta

from backend.storage.analytics.client import Analytics
from backend.storage.sweep import Sweep

_EVERY = timedelta(hours=1)


def analytics_upkeep(analytics: Analytics) -> Sweep:
    """Brings the files of this host up to date once an hour. Where there are none, it does nothing."""
    return Sweep("keeping the columns of analytics true", analytics.keep_up, _EVERY)
