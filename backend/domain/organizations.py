"""Organizations: who owns links, keys, domains and web origins."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Organization:
    """An organization; its subscription, where it has one, pays for install analytics."""

    id: str
    name: str
    created_at: datetime
    subscription_until: datetime | None = None

    def has_subscription(self, now: datetime) -> bool:
        """Whether a paid subscription is in force at `now`."""
        return self.subscription_until is not None and now < self.subscription_until
