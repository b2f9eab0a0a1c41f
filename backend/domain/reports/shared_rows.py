"""Single clicks and sales as readers without an account see them: nothing that names a person.

What the organization sees besides is not here at all, so that no page and no file can show it: ids of
customers, orders and links, the exact time, the system and the browser (decisions, "shared-reports").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from decimal import Decimal
from fractions import Fraction

from backend.domain.reports.singles import ClicksOf, SalesOf


@dataclass(frozen=True, slots=True)
class SharedClick:
    """A request for a link in the hour that begins at `hour`. It counts unless there is a `reason`."""

    hour: datetime
    link_name: str | None
    platform: str
    country: str | None
    referrer: str | None
    outcome: str
    reason: str | None
    variant: str | None


@dataclass(frozen=True, slots=True)
class SharedSale:
    """What one touch gets of a sale, a lead or an event: `part` of it. Amounts are None without revenue."""

    hour: datetime
    event: str | None
    part: Fraction
    is_credited: bool
    link_name: str | None
    campaign: str | None
    country: str | None
    platform: str | None
    currency: str | None = None
    revenue: Decimal | None = None
    refunded: Decimal | None = None


@dataclass(frozen=True, slots=True)
class SharedRows:
    """The newest of the rows, what they are of, and how many there are in all; either list is empty."""

    of: ClicksOf | SalesOf
    clicks: Sequence[SharedClick]
    sales: Sequence[SharedSale]
    total: int
    notes: Sequence[str] = ()


def hour_of(at: datetime, zone: tzinfo) -> datetime:
    """The beginning of the hour by the clock of the zone."""
    return at.astimezone(zone).replace(minute=0, second=0, microsecond=0)
