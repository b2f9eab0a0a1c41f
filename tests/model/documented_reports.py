"""What reports show of many histories, by the documents' words and nothing else.

| rule | document, section |
|---|---|
| what each measure counts | docs/decisions/words-of-reports.md, "Whom and what a figure counts" |
| rows apart: not credited, links deleted for good | docs/decisions/words-of-reports.md, "Rows apart" |
| the time that is compared with | docs/decisions/words-of-reports.md, "The time that is compared with" |
| one currency | docs/decisions/words-of-reports.md, "One currency" |
| for which link and campaign a touch counts | docs/decisions/analytics-query.md, "Links as they are now" |
| identities | docs/decisions/credit.md, "The facts" |
| properties of events | docs/rest-api.md, "Properties of events" |
| how sums are made and rounded | docs/decisions/credit.md, "Sums, and how they are rounded" |
| on which day a cost counts | docs/decisions/costs.md, "A day has no time zone" |
| by what costs are known | docs/decisions/costs.md, "What is not told is absent" |
| what costs are divided by | docs/decisions/words-of-reports.md, "Costs in several currencies" |
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta, tzinfo
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any, Literal

from tests.model.documented_rules import (
    DECIMAL_PLACES,
    Known,
    Rules,
    Sale,
    Source,
    customer_of,
    known,
    shares,
)
from tests.model.history import Cost, History

COST_MEASURES = ("cost", "return_on_ad_spend", "cost_per_click", "cost_per_conversion")
COST_FIELDS = frozenset({"campaign", "day"})  # by which costs are known

Field = Literal["campaign", "link", "source", "day", "event.plan"]
Kind = Literal["not_credited", "purged_links"] | None
Amounts = defaultdict[str, Fraction]


@dataclass(frozen=True, slots=True)
class Key:
    """Which row it is: its values in the order of `group_by`, and its kind."""

    values: tuple[str | None, ...]
    kind: Kind = None


def _amounts() -> Amounts:
    return defaultdict(Fraction)


@dataclass(slots=True)
class Row:
    """What a row counts, exactly, and the numbers of the histories that it is of."""

    clicks: int = 0
    leads: Fraction = Fraction(0)
    events: Fraction = Fraction(0)
    identities: Fraction = Fraction(0)
    conversions: Fraction = Fraction(0)
    conversions_of_links: Fraction = Fraction(0)
    customers: set[str] = field(default_factory=set)
    contacts: set[str] = field(default_factory=set)
    conversions_by_currency: Amounts = field(default_factory=_amounts)
    revenue: Amounts = field(default_factory=_amounts)
    revenue_of_links: Amounts = field(default_factory=_amounts)
    refunds: Amounts = field(default_factory=_amounts)
    # By the currency of a cost: what was spent in it, and what came of campaigns whose cost in it is known.
    cost: Amounts = field(default_factory=_amounts)
    clicks_with_cost: Amounts = field(default_factory=_amounts)
    conversions_with_cost: Amounts = field(default_factory=_amounts)
    revenue_with_cost: Amounts = field(default_factory=_amounts)
    histories: set[int] = field(default_factory=set)

    def net_revenue(self) -> dict[str, Fraction]:
        """The revenue less the refunds."""
        return {name: amount - self.refunds[name] for name, amount in self.revenue.items()}

    def shown(self, measure: str) -> object:
        """A measure as an answer has it: rounded once, a half to the even digit."""
        if measure in {"conversion_rate", "revenue_per_click"}:
            return self.rate(measure) if self.clicks else None
        if measure in COST_MEASURES:
            return self.of_costs(measure)
        value: Any = self.net_revenue() if measure == "net_revenue" else getattr(self, measure)
        if measure == "conversions_by_currency":
            return {name: rounded_to(count, 6) for name, count in value.items()}
        if measure in {"leads", "conversions", "events", "identities"}:
            return rounded_to(value, 6)
        if isinstance(value, set | int):
            return len(value) if isinstance(value, set) else value
        return _shown_amounts(value, 0)

    def of_costs(self, measure: str) -> object:
        """What was spent, or what was spent for each of something, or came back of it: by currency."""
        if measure == "cost":
            return _shown_amounts(self.cost, 0)
        if measure == "return_on_ad_spend":
            return {
                name: rounded_to(self.revenue_with_cost[name] / cost, 6)
                for name, cost in self.cost.items()
                if cost
            }
        is_by_click = measure == "cost_per_click"
        by = self.clicks_with_cost if is_by_click else self.conversions_with_cost
        each = {name: cost / by[name] for name, cost in self.cost.items() if by[name]}
        return _shown_amounts(each, 4 if is_by_click else 0)

    def rate(self, measure: str) -> object:
        """What a click brought: conversions that came of links, or their revenue."""
        if measure == "conversion_rate":
            return rounded_to(self.conversions_of_links / self.clicks, 6)
        return _shown_amounts(
            {name: amount / self.clicks for name, amount in self.revenue_of_links.items()}, 4
        )


@dataclass(frozen=True, slots=True)
class Report:
    """What a query groups by, in which days, by which rules, of which currency."""

    group_by: tuple[Field, ...]
    rules: Rules
    beginning: datetime  # of the histories' time
    timezone: tzinfo
    currency: str | None = None
    first: int = -10  # day, counted from the beginning's
    end: int = 21  # the day that is not in it any more
    is_compared: bool = False  # with as many days before

    def day(self, at: float) -> str:
        """The day of a time, in the report's time zone."""
        return _day(self.beginning, self.timezone, at)

    @property
    def period(self) -> tuple[str, str]:
        """The first day, and the one after the last."""
        return _period(self.beginning, self.timezone, self.first, self.end)

    def has(self, at: float) -> bool:
        """Whether a time is in the period."""
        first, end = self.period
        return first <= self.day(at) < end

    def before(self) -> Report:
        """The same of as many whole days before."""
        days = self.end - self.first
        return replace(self, first=self.first - days, end=self.first, is_compared=False)

    def compared_with(self, key: Key) -> Key:
        """The row of the days before that a row is compared with: a day's is so many days before."""
        days = timedelta(self.end - self.first)
        values = (
            (date.fromisoformat(value) - days).isoformat() if field == "day" and value else value
            for field, value in zip(self.group_by, key.values, strict=True)
        )
        return replace(key, values=tuple(values))

    def date_of(self, cost: Cost) -> str:
        """The calendar day of a cost, which is the same in every time zone."""
        return (self.beginning.date() + timedelta(cost.day)).isoformat()

    def has_cost(self, cost: Cost) -> bool:
        """Whether it counts: the noon of its day is in the period."""
        first, end = self.period
        return first <= self.date_of(cost) < end and self.currency in {None, cost.currency}

    @property
    def knows_costs(self) -> bool:
        """Whether it is known what each row cost."""
        return COST_FIELDS.issuperset(self.group_by)

    @property
    def is_of_links(self) -> bool:
        """Whether rows are by a field of links, so that some stand apart."""
        return not {"day", "event.plan"}.issuperset(self.group_by)


@cache
def _day(beginning: datetime, timezone: tzinfo, at: float) -> str:
    return (beginning + timedelta(seconds=at)).astimezone(timezone).date().isoformat()


@cache
def _period(beginning: datetime, timezone: tzinfo, first: int, end: int) -> tuple[str, str]:
    day = beginning.astimezone(timezone).date()
    return (day + timedelta(first)).isoformat(), (day + timedelta(end)).isoformat()


def rows(report: Report, histories: Iterable[History]) -> dict[Key, Row]:
    """The rows of these histories."""
    found: defaultdict[Key, Row] = defaultdict(Row)
    for history in histories:
        costs = _count_costs(found, report, history)
        for click in known_of(history, None).clicks.values():  # clicks are those of now, also with as_of
            if click.link in history.purged and report.is_of_links:
                continue  # they are in no row of links
            if not report.has(click.at):
                continue
            row = found[_key(report, history, Source(click.link), click.at)]
            row.clicks += 1
            row.histories.add(history.number)
            for currency in costs[_campaign(history, Source(click.link))]:
                row.clicks_with_cost[currency] += 1
        for credited in credited_of(history, report.rules):
            fact = credited.fact
            is_asked = not fact.is_conversion or report.currency in {None, fact.currency}
            if is_asked and report.has(fact.at):
                _count(found, report, history, credited, costs)
    return dict(found)


Costs = defaultdict[str | None, set[str]]  # the currencies in which the cost of a campaign is known


def _count_costs(found: defaultdict[Key, Row], report: Report, history: History) -> Costs:
    """Add what campaigns cost, and say in which currencies that is known of each."""
    currencies: Costs = defaultdict(set)
    for cost in history.costs if report.knows_costs else ():
        if report.has_cost(cost):
            campaign = history.campaign_of(cost)
            currencies[campaign].add(cost.currency)
            named = {"campaign": campaign, "day": report.date_of(cost)}
            row = found[Key(tuple(named[field] for field in report.group_by))]
            row.cost[cost.currency] += Fraction(cost.amount)
            row.histories.add(history.number)
    return currencies


def _campaign(history: History, source: Source | None) -> str | None:
    """The campaign that a touch counts for; None where there is none, also of a link deleted for good."""
    if source is None or source.link in history.purged:
        return None
    return value_of(history, source, "campaign")


@cache
def known_of(history: History, as_of: int | None) -> Known:
    """What had been told of a history before a moment."""
    return known(history, as_of)


@dataclass(frozen=True, slots=True)
class Credited:
    """Something that is credited, what it counts as, whose it is, and the touches that get a part of it."""

    fact: Sale
    measure: Literal["sales", "events", "identities"]
    customer: str | None
    shares: list[tuple[Source | None, Fraction]]


@cache
def credited_of(history: History, rules: Rules) -> list[Credited]:
    """All that is credited in a history: the same in each report by these rules."""
    facts = known_of(history, rules.as_of)
    sales = [Credited(sale, "sales", customer_of(facts, sale), []) for sale in facts.sales.values()]
    events = [Credited(event, "events", None, []) for event in facts.events.values()]
    identities = [Credited(first, "identities", None, []) for first in facts.first_identities]
    return [
        replace(
            credited,
            shares=[(source, part) for source, part in shares(facts, credited.fact, rules) if part],
        )
        for credited in (*sales, *events, *identities)
    ]


def _count(
    found: defaultdict[Key, Row], report: Report, history: History, credited: Credited, costs: Costs
) -> None:
    """Add it to the rows of the touches that get it."""
    fact = credited.fact
    plan = None if credited.measure == "sales" else fact.tellings[0].fact.plan
    for source, part in credited.shares:
        row = found[_key(report, history, source, fact.at, plan)]
        row.histories.add(history.number)
        if credited.measure == "events":
            row.events += part
        elif credited.measure == "identities":
            row.identities += part
        else:
            _count_sale(row, history, credited, source, part)
            if fact.is_conversion:
                _count_with_cost(row, fact, part, costs[_campaign(history, source)])


def _count_with_cost(row: Row, sale: Sale, part: Fraction, currencies: Iterable[str]) -> None:
    """Add a part of a conversion to what came of campaigns whose cost is known in these currencies."""
    for currency in currencies:
        row.conversions_with_cost[currency] += part
        if currency == sale.currency:
            row.revenue_with_cost[currency] += part * Fraction(sale.amount)


def _count_sale(
    row: Row, history: History, credited: Credited, source: Source | None, part: Fraction
) -> None:
    """Add a part of a conversion or a lead."""
    sale, customer = credited.fact, credited.customer
    if customer is not None:
        row.contacts.add(history.name(customer))
    if not sale.is_conversion:
        row.leads += part
        return
    amount = part * Fraction(sale.amount)
    row.conversions += part
    row.conversions_by_currency[sale.currency] += part
    row.revenue[sale.currency] += amount
    row.refunds[sale.currency] += part * Fraction(sale.refunded)
    if source is not None and source.link is not None:
        row.conversions_of_links += part
        row.revenue_of_links[sale.currency] += amount
    if customer is not None:
        row.customers.add(history.name(customer))


def _key(report: Report, history: History, source: Source | None, at: float, plan: str | None = None) -> Key:
    kind: Kind = None
    if report.is_of_links:
        if source is None:
            kind = "not_credited"
        elif source.link in history.purged:
            kind = "purged_links"
    values = tuple(
        report.day(at)
        if field == "day"
        else plan
        if field == "event.plan"
        else value_of(history, source, field)
        if kind is None
        else None
        for field in report.group_by
    )
    return Key(values, kind)


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


def _shown_amounts(amounts: dict[str, Fraction], more_places: int) -> dict[str, Decimal]:
    return {
        currency: rounded_to(amount, DECIMAL_PLACES[currency] + more_places)
        for currency, amount in amounts.items()
    }


def rounded_to(number: Fraction, places: int) -> Decimal:
    """A number with so many decimal places, a half to the even digit."""
    return Decimal(round(number * 10**places)).scaleb(-places)
