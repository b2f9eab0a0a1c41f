"""Organizations: who owns links, keys, domains and web origins."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from backend.domain.field_rules import Text

NAME_RULE = Text(200, shown=True)


@dataclass(frozen=True, slots=True)
class Organization:
    """An organization; its subscription, where it has one, pays for install analytics.

    `retention_days` is how long it keeps what its visitors did; None is without limit. `device_cookie`: the
    SDK's cookie is renewed by header, on `cookie_domain` where its sites give `init` one.
    """

    id: str
    name: str
    created_at: datetime
    subscription_until: datetime | None = None
    retention_days: int | None = None
    device_cookie: bool = False
    cookie_domain: str | None = None

    def has_subscription(self, now: datetime) -> bool:
        """Whether a paid subscription is in force at `now`."""
        return self.subscription_until is not None and now < self.subscription_until
