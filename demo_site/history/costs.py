"""What the demo's paid campaigns cost: some pay for themselves, and some don't."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal

from backend.domain.costs.cost import ToldCost
from backend.domain.ids import OrgId
from backend.domain.links.links import Link
from backend.storage.costs.costs import tell_costs
from backend.storage.driver.mongo import Database

_PAID = frozenset({"cpc", "paid_social"})
_LEAST, _MOST = 4, 40  # of a campaign and day, in euros


async def make_costs(
    database: Database, org_id: OrgId, links: Sequence[Link], begin: date, now: datetime
) -> None:
    """Tell what each paid campaign cost on each day before today; what was told before stays as it is."""
    campaigns = sorted({link.utm["utm_campaign"] for link in links if link.utm.get("utm_medium") in _PAID})
    days = [begin + timedelta(days=day) for day in range((now.date() - begin).days)]
    told = [ToldCost(campaign, day, _amount(campaign, day), "EUR") for campaign in campaigns for day in days]
    if told:
        await tell_costs(database, org_id, told, now)


def _amount(campaign: str, day: date) -> Decimal:
    """The same each time: the campaign's budget, more or less of which is spent on a day."""
    budget = _LEAST + _drawn(campaign) % (_MOST - _LEAST)
    return Decimal(budget * (70 + _drawn(f"{campaign} {day}") % 60)).scaleb(-2)


def _drawn(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
