"""The report of leads, conversions and revenue by their source."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

from backend.domain.ids import OrgId
from backend.storage import conversions, identities, leads
from backend.storage.mongo import Database, Document


class Grouping(StrEnum):
    """What each row of the report stands for."""

    LINK = "link"
    CAMPAIGN = "campaign"
    SOURCE = "source"


class TouchChoice(StrEnum):
    """Which touch gets the credit."""

    FIRST = "first"
    LAST = "last"


_FIELDS = {
    Grouping.LINK: "link_id",
    Grouping.CAMPAIGN: "utm.utm_campaign",
    Grouping.SOURCE: "utm.utm_source",
}
_TOUCHES = {TouchChoice.FIRST: "first_touch", TouchChoice.LAST: "touch"}


@dataclass(slots=True)
class ReportRow:
    """The results of one link, campaign or source. `key` is None for those without any.

    `revenue` maps a currency to an exact amount in its main unit. A customer with several devices counts
    once. What a device did before it was identified counts for its first customer.
    """

    key: str | None
    leads: int = 0
    conversions: int = 0
    revenue: dict[str, Decimal] = field(default_factory=dict)
    customer_ids: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Period:
    """The time from `since` up to, but not including, `until`. None means no limit."""

    since: datetime | None = None
    until: datetime | None = None

    def matches(self) -> Document:
        """The query for this period on the field `at`; empty if it has no limits."""
        bounds = {"$gte": self.since, "$lt": self.until}
        given = {name: bound for name, bound in bounds.items() if bound is not None}
        return {"at": given} if given else {}


async def attribution_report(
    database: Database, org_id: OrgId, grouping: Grouping, touch: TouchChoice, period: Period
) -> list[ReportRow]:
    """One row for each link, campaign or source, those with most conversions first."""
    rows: dict[str | None, ReportRow] = {}
    path = f"{_TOUCHES[touch]}.{_FIELDS[grouping]}"
    async for found in _grouped(database, leads.NAME, org_id, path, period):
        _row(rows, found).leads += found["count"]
    async for found in _grouped(database, conversions.NAME, org_id, path, period):
        row = _row(rows, found)
        row.conversions += found["count"]
        currency = found["_id"]["currency"]
        row.revenue[currency] = row.revenue.get(currency, Decimal()) + found["revenue"].to_decimal()
    return sorted(rows.values(), key=lambda row: (-row.conversions, -row.leads, row.key or ""))


def _row(rows: dict[str | None, ReportRow], found: Mapping[str, Any]) -> ReportRow:
    key = found["_id"].get("key")
    row = rows.setdefault(key, ReportRow(key))
    customer_id = found["_id"].get("customer_id") or found.get("later_customer_id")
    if customer_id:
        row.customer_ids.add(customer_id)
    return row


def _grouped(
    database: Database, collection: str, org_id: OrgId, path: str, period: Period
) -> AsyncIterator[Any]:
    group = {
        "key": f"${path}",
        "currency": "$currency",
        "customer_id": "$customer_id",
        "device_id": {"$cond": ["$customer_id", None, "$device_id"]},
    }
    pipeline: list[Document] = [
        {"$match": {"org_id": org_id} | period.matches()},
        {"$group": {"_id": group, "count": {"$sum": 1}, "revenue": {"$sum": "$revenue"}}},
        later_identity(org_id),
        {"$set": {"later_customer_id": {"$first": "$later.customer_id"}}},
    ]
    return database[collection].aggregate(pipeline, allowDiskUse=True)


def later_identity(org_id: OrgId) -> Document:
    """Pipeline stages that find the customer of records made before their device was identified."""
    match = {"org_id": org_id, "$expr": {"$eq": ["$device_id", "$$device"]}}
    return {
        "$lookup": {
            "from": identities.NAME,
            "let": {"device": "$_id.device_id"},
            "pipeline": [{"$match": match}, {"$sort": {"first_at": 1}}, {"$limit": 1}],
            "as": "later",
        }
    }
