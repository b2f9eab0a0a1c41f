"""What reports show, by the documents' words: rows of measures, made of many histories.

| rule | document, section |
|---|---|
| for which link and campaign a touch counts | docs/decisions/analytics-query.md, "Links as they are now" |
| what is summed up how | docs/decisions/credit.md, "Sums" |
| measures | docs/rest-api.md, "Query analytics" |
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from functools import cache
from typing import Literal

from tests.model.documented_rules import (
    DECIMAL_PLACES,
    Known,
    Record,
    Rules,
    Source,
    customer_of,
    known,
    shares,
)
from tests.model.history import History

Field = Literal["campaign", "link", "source", "day"]
Key = tuple[str | None, ...]
Amounts = dict[str, Fraction]


@dataclass(slots=True)
class Row:
    """The measures of one row, exactly, and the histories that they are of."""

    clicks: int = 0
    leads: Fraction = Fraction(0)
    conversions: Fraction = Fraction(0)
    customers: set[str] = field(default_factory=set)
    contacts: set[str] = field(default_factory=set)
    revenue: defaultdict[str, Fraction] = field(default_factory=lambda: defaultdict(Fraction))
    refunds: defaultdict[str, Fraction] = field(default_factory=lambda: defaultdict(Fraction))
    histories: set[int] = field(default_factory=set)

    @property
    def net_revenue(self) -> Amounts:
        """What stayed of the sales."""
        return {name: amount - self.refunds[name] for name, amount in self.revenue.items()}


@dataclass(frozen=True, slots=True)
class Report:
    """What a query groups by, in which days, by which rules."""

    group_by: tuple[Field, ...]
    rules: Rules
    beginning: datetime  # of the histories' time
    timezone: tzinfo

    def day(self, at: int) -> str:
        """The day of a time, in the report's time zone."""
        return (self.beginning + timedelta(seconds=at)).astimezone(self.timezone).date().isoformat()


def rows(report: Report, histories: Iterable[History]) -> dict[Key, Row]:
    """The rows of these histories. Keys have values in the order of `group_by`."""
    found: defaultdict[Key, Row] = defaultdict(Row)
    for history in histories:
        for click in known_of(history, None).clicks.values():  # clicks are those of now, also with as_of
            row = found[_key(report, history, Source(click.link, None, has_ad=False), click.at)]
            row.clicks += 1
            row.histories.add(history.number)
        facts = known_of(history, report.rules.as_of)
        for record in facts.records.values():
            _count(found, report, history, facts, record)
    return dict(found)


@cache
def known_of(history: History, as_of: int | None) -> Known:
    """What had been told of a history before a moment."""
    return known(history, as_of)


def _count(
    found: defaultdict[Key, Row], report: Report, history: History, facts: Known, record: Record
) -> None:
    customer = customer_of(facts, record)
    for source, part in shares(facts, record, report.rules):
        if not part:
            continue
        row = found[_key(report, history, source, record.at)]
        row.histories.add(history.number)
        if customer is not None:
            row.contacts.add(history.name(customer))
        if record.kind == "lead":
            row.leads += part
            continue
        row.conversions += part
        row.revenue[record.currency] += part * Fraction(record.amount)
        row.refunds[record.currency] += part * Fraction(sum(record.refunds))
        if customer is not None:
            row.customers.add(history.name(customer))


def _key(report: Report, history: History, source: Source | None, at: int) -> Key:
    return tuple(
        report.day(at) if field == "day" else value_of(history, source, field) for field in report.group_by
    )


def value_of(history: History, source: Source | None, field: Field) -> str | None:
    """What a touch counts for: what its link has now, without a link what its address said."""
    if source is None:
        return None
    if field == "link":
        return None if source.link is None else history.name(source.link)
    if source.link is not None:
        return history.campaign(source.link) if field == "campaign" else history.name("source")
    if source.campaign is None:
        return None
    return history.name(source.campaign) if field == "campaign" else history.name("address")


def shown(amount: Fraction, currency: str) -> Decimal:
    """An amount as it is shown: rounded once, a half to the even digit."""
    places = DECIMAL_PLACES[currency]
    return Decimal(round(amount * 10**places)).scaleb(-places).quantize(
        Decimal(1).scaleb(-places), ROUND_HALF_EVEN
    )
