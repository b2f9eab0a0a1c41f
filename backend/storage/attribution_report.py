"""The report of leads, conversions and revenue by their source."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

from backend.domain.credit_rules import CreditRules, Model
from backend.domain.ids import CustomerId, OrgId
from backend.domain.money import of_units
from backend.storage import conversions, identities, leads, refunds
from backend.storage.credited_records import CreditedRecord, count_of, credit_records
from backend.storage.histories import HistoryReader
from backend.storage.mongo import Database, Document


class Grouping(StrEnum):
    """What each row of the report stands for."""

    LINK = "link"
    CAMPAIGN = "campaign"
    SOURCE = "source"


_FIELDS = {
    Grouping.LINK: "link_id",
    Grouping.CAMPAIGN: "utm.utm_campaign",
    Grouping.SOURCE: "utm.utm_source",
}
_DAY_MS = 86_400_000
# In which field a record keeps the touch that a model names for its device.
KEPT = {Model.FIRST: "first_touch", Model.LAST_NON_DIRECT: "touch"}


@dataclass(slots=True)
class ReportRow:
    """The results of one link, campaign or source. `key` is None for those without any.

    Leads and conversions may be fractions, where several touches share the credit. `revenue` and `refunds`
    map a currency to an exact amount in its main unit. A customer with several devices counts once. What a
    device did before it was identified counts for its first customer.
    """

    key: str | None
    leads: Decimal = Decimal()
    conversions: Decimal = Decimal()
    revenue: dict[str, Decimal] = field(default_factory=dict)
    refunds: dict[str, Decimal] = field(default_factory=dict)
    customer_ids: set[CustomerId] = field(default_factory=set)

    @property
    def net_revenue(self) -> dict[str, Decimal]:
        """The revenue without what was paid back of it."""
        return {each: amount - self.refunds.get(each, 0) for each, amount in self.revenue.items()}


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
    database: Database, org_id: OrgId, grouping: Grouping, rules: CreditRules, period: Period
) -> list[ReportRow]:
    """One row for each link, campaign or source, those with most conversions first."""
    report = _Report(database, org_id, grouping, rules, period)
    is_kept = rules.are_kept and not await identities.has_taken_back(database, org_id)
    for name in (leads.NAME, conversions.NAME):
        await (report.add_kept if is_kept else report.add_credited)(name)
    return sorted(report.rows.values(), key=lambda row: (-row.conversions, -row.leads, row.key or ""))


class _Report:
    """The rows of a report, as they fill."""

    def __init__(
        self, database: Database, org_id: OrgId, grouping: Grouping, rules: CreditRules, period: Period
    ) -> None:
        self.rows: dict[str | None, ReportRow] = {}
        self._database = database
        self._org_id = org_id
        self._grouping = grouping
        self._rules = rules
        self._period = period

    async def add_kept(self, name: str) -> None:
        """Add up by the touch that each record of this collection keeps."""
        async for found in self._grouped(name):
            key, of = found["_id"].get("key"), found["_id"]
            customer_id = of.get("customer_id") or found.get("later_customer_id")
            paid = found["revenue"].to_decimal() if name == conversions.NAME else Decimal()
            self._add(key, found["count"], of.get("currency"), (paid, refunds.summed(found)), customer_id)

    def _grouped(self, name: str) -> AsyncIterator[Any]:
        group = {
            "key": f"${KEPT[self._rules.model]}.{_FIELDS[self._grouping]}",
            "currency": "$currency",
            "customer_id": "$customer_id",
            "device_id": {"$cond": ["$customer_id", None, "$device_id"]},
        }
        pipeline: list[Document] = [
            {"$match": {"org_id": self._org_id} | self._period.matches()},
            *in_window(self._rules),
            {"$group": {"_id": group, "count": {"$sum": 1}, "revenue": {"$sum": "$revenue"}, **refunds.SUM}},
            later_identity(self._org_id),
            {"$set": {"later_customer_id": {"$first": "$later.customer_id"}}},
        ]
        return self._database[name].aggregate(pipeline, allowDiskUse=True)

    async def add_credited(self, name: str) -> None:
        """Add up by the touches that the rules give the credit to."""
        field = _FIELDS[self._grouping]
        reader = HistoryReader(self._database, self._org_id, self._rules, [field])
        await credit_records(reader, name, self._period.matches(), self._add_shares)

    def _add_shares(self, records: Iterable[CreditedRecord]) -> None:
        for _, currency, digits, credited in records:
            for touch, parts, amount, refunded in credited.shares:
                key = touch[0] if touch else None
                amounts = of_units(amount, digits), of_units(refunded, digits)
                self._add(key, count_of(parts), currency, amounts, credited.customer_id)

    def _add(
        self,
        key: str | None,
        count: Decimal | int,
        currency: str | None,
        amounts: tuple[Decimal, Decimal],
        customer_id: CustomerId | None,
    ) -> None:
        """Add what was paid and paid back, or leads if there is no currency."""
        row = self.rows.setdefault(key, ReportRow(key))
        if currency:
            paid, refunded = amounts
            row.conversions += count
            row.revenue[currency] = row.revenue.get(currency, Decimal()) + paid
            if refunded:
                row.refunds[currency] = row.refunds.get(currency, Decimal()) + refunded
        else:
            row.leads += count
        if customer_id:
            row.customer_ids.add(customer_id)


def in_window(rules: CreditRules) -> list[Document]:
    """Pipeline stages that take from records the touches that they keep and that are too old to count."""
    if rules.lookback_days is None:
        return []
    touch = KEPT[rules.model]
    oldest = {"$subtract": ["$at", rules.lookback_days * _DAY_MS]}
    return [{"$set": {touch: {"$cond": [{"$gte": [f"${touch}.at", oldest]}, f"${touch}", None]}}}]


def later_identity(org_id: OrgId) -> Document:
    """Pipeline stages that find the customer of records made before their device was identified."""
    same_device = {"$expr": {"$eq": ["$device_id", "$$device"]}}
    match = {"org_id": org_id} | identities.STANDING | same_device
    return {
        "$lookup": {
            "from": identities.NAME,
            "let": {"device": "$_id.device_id"},
            "pipeline": [{"$match": match}, {"$sort": {"first_at": 1}}, {"$limit": 1}],
            "as": "later",
        }
    }
