"""What a group of a query of analytics comes to: added up exactly, and rounded once, when it is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from backend.domain.analytics.answer import RATE_DIGITS, Amounts, Counts, Value, ValueColumns, plain_count
from backend.domain.analytics.query import ByCurrency, Measure, Shown
from backend.domain.fields.money import shown

# Decimals of an amount per click beyond those of its currency.
MORE_DIGITS = 4
PER_CLICK = frozenset({Measure.REVENUE_PER_CLICK, Measure.COST_PER_CLICK})


class Sold(NamedTuple):
    """What sales come to that were divided into `whole` parts, and are in one currency of so many decimals.

    Each number is of such parts, and amounts are of the currency's smallest units. `of_links` are those
    conversions whose touch is of a link, and `revenue_of_links` is theirs. `costs_in` are the currencies in
    which the cost of their campaign is known; None: in none.
    """

    whole: int
    currency: str | None
    digits: int | None
    leads: int | None
    conversions: int | None
    events: int | None
    identities: int | None
    of_links: int | None
    revenue: int | None
    revenue_of_links: int | None
    refunds: int | None
    costs_in: Sequence[str] | None = None


class Spent(NamedTuple):
    """What campaigns cost in one currency, in units of so many decimals."""

    currency: str
    digits: int
    amount: int


@dataclass(slots=True)
class GroupSums:
    """What was counted for one group. Amounts are by currency, in main units, not rounded.

    Leads, conversions, events and identities are fractions where several touches share the credit.
    `conversions_in` are those of each currency. What has `with_cost` in its name is by the currency of a
    cost, and came of campaigns whose cost is known in it; `revenue_with_other_cost` is in another currency
    than any cost of its campaign. `exact_cost` has no currency in which nothing was told.
    """

    clicks: int = 0
    visitors: int = 0
    not_counted: int = 0
    opens: int = 0
    installs: int = 0
    customers: int = 0
    contacts: int = 0
    leads: int | Fraction = 0
    conversions: int | Fraction = 0
    events: int | Fraction = 0
    identities: int | Fraction = 0
    came_of_links: int | Fraction = 0
    chance_of_best: float | None = None
    conversions_in: dict[str, int | Fraction] = field(default_factory=dict)
    exact_revenue: dict[str, Fraction] = field(default_factory=dict)
    exact_revenue_of_links: dict[str, Fraction] = field(default_factory=dict)
    exact_refunds: dict[str, Fraction] = field(default_factory=dict)
    clicks_with_cost: dict[str, int] = field(default_factory=dict)
    conversions_with_cost: dict[str, Fraction] = field(default_factory=dict)
    exact_revenue_with_cost: dict[str, Fraction] = field(default_factory=dict)
    revenue_with_other_cost: dict[str, Fraction] = field(default_factory=dict)
    exact_cost: dict[str, Fraction] = field(default_factory=dict)

    @property
    def revenue(self) -> Amounts:
        """The amounts by currency."""
        return _shown(self.exact_revenue)

    @property
    def refunds(self) -> Amounts:
        """What was paid back of the revenue."""
        return _shown(self.exact_refunds)

    @property
    def net_revenue(self) -> Amounts:
        """The revenue without what was paid back of it."""
        return _shown(
            {
                currency: paid - self.exact_refunds.get(currency, 0)
                for currency, paid in self.exact_revenue.items()
            }
        )

    def add(self, sales: Iterable[Sold]) -> None:
        """Add sales."""
        for sold in sales:
            whole = sold.whole
            self.leads += _part(sold.leads, whole)
            self.conversions += _part(sold.conversions, whole)
            self.events += _part(sold.events, whole)
            self.identities += _part(sold.identities, whole)
            self.came_of_links += _part(sold.of_links, whole)
            for currency in sold.costs_in or ():
                _add(self.conversions_with_cost, currency, Fraction(sold.conversions or 0, whole))
            if sold.currency and sold.conversions:
                already = self.conversions_in.get(sold.currency, 0)
                self.conversions_in[sold.currency] = already + _part(sold.conversions, whole)
                self._add_amounts(sold.currency, sold)

    def _add_amounts(self, currency: str, sold: Sold) -> None:
        unit = sold.whole * 10 ** (sold.digits or 0)
        _add(self.exact_revenue, currency, Fraction(sold.revenue or 0, unit))
        if sold.of_links:
            _add(self.exact_revenue_of_links, currency, Fraction(sold.revenue_of_links or 0, unit))
        if sold.costs_in:
            is_other = currency not in sold.costs_in
            with_cost = self.revenue_with_other_cost if is_other else self.exact_revenue_with_cost
            _add(with_cost, currency, Fraction(sold.revenue or 0, unit))
        if sold.refunds:
            _add(self.exact_refunds, currency, Fraction(sold.refunds, unit))

    def add_costs(self, costs: Iterable[Spent]) -> None:
        """Add costs."""
        for spent in costs:
            _add(self.exact_cost, spent.currency, Fraction(spent.amount, 10**spent.digits))


def _part(weight: int | None, whole: int) -> int | Fraction:
    if not weight:
        return 0
    return weight if whole == 1 else Fraction(weight, whole)


def _add(amounts: dict[str, Fraction], currency: str, amount: Fraction) -> None:
    amounts[currency] = amounts.get(currency, Fraction()) + amount


def _shown(amounts: Mapping[str, Fraction]) -> Amounts:
    return {currency: shown(amount, currency) for currency, amount in amounts.items()}


def value_of(measure: Shown, counts: GroupSums, currency: str | None) -> Value:
    """What is shown of a measure."""
    if value := _VALUES.get(measure):
        return value(counts, currency)
    count: int | Fraction = getattr(counts, measure.value)
    return plain_count(count)


def _conversions_in(counts: GroupSums, _: str | None) -> Value:
    return {name: plain_count(count) for name, count in sorted(counts.conversions_in.items())}


def _conversion_rate(counts: GroupSums, _: str | None) -> Value:
    return round(float(counts.came_of_links) / counts.clicks, RATE_DIGITS) if counts.clicks else None


def _revenue_per_click(counts: GroupSums, currency: str | None) -> Value:
    if not counts.clicks:
        return None
    amounts = {name: amount / counts.clicks for name, amount in counts.exact_revenue_of_links.items()}
    rounded = {name: shown(amount, name, MORE_DIGITS) for name, amount in amounts.items()}
    return _money(rounded, currency, MORE_DIGITS)


def _cost(counts: GroupSums, currency: str | None) -> Value:
    """What was spent; None where no cost is known."""
    return _by_cost(_shown(dict(sorted(counts.exact_cost.items()))), currency)


def _cost_per(
    counts: GroupSums, currency: str | None, things: Mapping[str, int | Fraction], digits: int = 0
) -> Value:
    """What each thing cost of which the cost in a currency is known; None where there are none."""
    each = {
        name: shown(cost / things[name], name, digits)
        for name, cost in sorted(counts.exact_cost.items())
        if things.get(name)
    }
    return _by_cost(each, currency)


def _by_cost(values: Amounts | Counts, currency: str | None) -> Value:
    """The values by the currency of a cost, or the one in this currency; None for nothing."""
    return (values or None) if currency is None else values.get(currency)


def _return(counts: GroupSums, currency: str | None) -> Value:
    """Revenue of campaigns with a cost in its currency, by that cost; None where that is not known, or 0."""
    returns = {
        name: round(float(counts.exact_revenue_with_cost.get(name, 0) / cost), RATE_DIGITS)
        for name, cost in sorted(counts.exact_cost.items())
        if cost
    }
    return _by_cost(returns, currency)


def _money(amounts: Amounts, currency: str | None, digits: int = 0) -> Value:
    if currency is None:
        return dict(sorted(amounts.items()))
    return amounts.get(currency, shown(Fraction(), currency, digits))


# How values are made that are not counts as they are.
_VALUES: Mapping[Shown, Callable[[GroupSums, str | None], Value]] = {
    ByCurrency.CONVERSIONS: _conversions_in,
    Measure.REVENUE: lambda counts, currency: _money(counts.revenue, currency),
    Measure.REFUNDS: lambda counts, currency: _money(counts.refunds, currency),
    Measure.NET_REVENUE: lambda counts, currency: _money(counts.net_revenue, currency),
    Measure.CONVERSION_RATE: _conversion_rate,
    Measure.REVENUE_PER_CLICK: _revenue_per_click,
    Measure.COST: _cost,
    Measure.RETURN_ON_AD_SPEND: _return,
    Measure.COST_PER_CLICK: lambda counts, currency: _cost_per(
        counts, currency, counts.clicks_with_cost, MORE_DIGITS
    ),
    Measure.COST_PER_CONVERSION: lambda counts, currency: _cost_per(
        counts, currency, counts.conversions_with_cost
    ),
    Measure.CHANCE_OF_BEST: lambda counts, _: counts.chance_of_best,
}


def changes_of(now: ValueColumns, before: ValueColumns) -> ValueColumns:
    """How much each measure changed, as a share of the one before; None where that is nothing or several."""
    return {
        measure: list(map(_change, values, before[measure]))
        for measure, values in now.items()
        if isinstance(measure, Measure)
    }


def _change(now: Value, before: Value) -> float | None:
    if now is None or not before or isinstance(now, Mapping) or isinstance(before, Mapping):
        return None
    was = Fraction(before)
    return round(float((Fraction(now) - was) / was), RATE_DIGITS)
