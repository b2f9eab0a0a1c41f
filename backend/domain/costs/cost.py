"""Costs: what a campaign cost on a day."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from backend.domain.ids import OrgId

# Of an organization: those of fifty campaigns for five years. Two that are told at one moment may exceed it.
MOST_COSTS = 100_000
# That are told at once.
MOST_AT_ONCE = 1_000
LONGEST_CAMPAIGN = 1024
# As the periods of analytics: before, days of some time zones did not begin at a quarter of an hour.
FIRST_DAY, END_DAY = date(2012, 1, 1), date(2200, 1, 1)
_EPOCH = date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class ToldCost:
    """An amount that a campaign cost on a calendar day, in the currency's main unit.

    The day has no time zone: it is the day of that date in whichever time zone figures are asked for.
    """

    campaign: str
    day: date
    amount: Decimal
    currency: str

    @property
    def id(self) -> str:
        """The id follows from campaign, day and currency: what is told of these again replaces this."""
        named = "\0".join([self.campaign, self.day.isoformat(), self.currency])
        return hashlib.sha256(named.encode()).hexdigest()[:32]

    @property
    def day_number(self) -> int:
        """The day, counted from 1970."""
        return (self.day - _EPOCH).days


@dataclass(frozen=True, slots=True)
class Cost:
    """A cost of an organization, and when it was told last."""

    org_id: OrgId
    told: ToldCost
    told_at: datetime
