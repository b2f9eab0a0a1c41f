"""What a group of a query of analytics comes to: added up exactly, and rounded once, when it is shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from backend.domain.analytics.answer import RATE_DIGITS, Value, ValueColumns, plain_count
from backend.domain.analytics.formulas import Formula, Less, Per, Sum
from backend.domain.analytics.measures import ByCurrency, Measure, MeasureKind, Shown, Unit
from backend.domain.fields.money import shown as shown_amount

# Decimals of an amount per click beyond those of its currency.
MORE_DIGITS = 4
Exact = int | Fraction


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
    `conversions_in` are those of each currency, `conversions_of_links` those that links led to. What has
    `with_cost` in its name is by the currency of a cost, and came of campaigns whose cost is known in it;
    `revenue_with_other_cost` is in another currency than any cost of its campaign. `cost` has no currency in
    which nothing was told.
    """

    clicks: int = 0
    visitors: int = 0
    not_counted: int = 0
    opens: int = 0
    installs: int = 0
    customers: int = 0
    contacts: int = 0
    leads: Exact = 0
    conversions: Exact = 0
    events: Exact = 0
    identities: Exact = 0
    conversions_of_links: Exact = 0
    chance_of_best: float | None = None
    conversions_in: dict[str, Exact] = field(default_factory=dict)
    revenue: dict[str, Fraction] = field(default_factory=dict)
    revenue_of_links: dict[str, Fraction] = field(default_factory=dict)
    refunds: dict[str, Fraction] = field(default_factory=dict)
    clicks_with_cost: dict[str, int] = field(default_factory=dict)
    conversions_with_cost: dict[str, Fraction] = field(default_factory=dict)
    revenue_with_cost: dict[str, Fraction] = field(default_factory=dict)
    revenue_with_other_cost: dict[str, Fraction] = field(default_factory=dict)
    cost: dict[str, Fraction] = field(default_factory=dict)

    def add(self, sales: Iterable[Sold]) -> None:
        """Add sales."""
        for sold in sales:
            whole = sold.whole
            self.leads += _part(sold.leads, whole)
            self.conversions += _part(sold.conversions, whole)
            self.events += _part(sold.events, whole)
            self.identities += _part(sold.identities, whole)
            self.conversions_of_links += _part(sold.of_links, whole)
            for currency in sold.costs_in or ():
                _add(self.conversions_with_cost, currency, Fraction(sold.conversions or 0, whole))
            if sold.currency and sold.conversions:
                already = self.conversions_in.get(sold.currency, 0)
                self.conversions_in[sold.currency] = already + _part(sold.conversions, whole)
                self._add_amounts(sold.currency, sold)

    def _add_amounts(self, currency: str, sold: Sold) -> None:
        unit = sold.whole * 10 ** (sold.digits or 0)
        _add(self.revenue, currency, Fraction(sold.revenue or 0, unit))
        if sold.of_links:
            _add(self.revenue_of_links, currency, Fraction(sold.revenue_of_links or 0, unit))
        if sold.costs_in:
            is_other = currency not in sold.costs_in
            with_cost = self.revenue_with_other_cost if is_other else self.revenue_with_cost
            _add(with_cost, currency, Fraction(sold.revenue or 0, unit))
        if sold.refunds:
            _add(self.refunds, currency, Fraction(sold.refunds, unit))

    def add_costs(self, costs: Iterable[Spent]) -> None:
        """Add costs."""
        for spent in costs:
            _add(self.cost, spent.currency, Fraction(spent.amount, 10**spent.digits))


def _part(weight: int | None, whole: int) -> Exact:
    if not weight:
        return 0
    return weight if whole == 1 else Fraction(weight, whole)


def _add(amounts: dict[str, Fraction], currency: str, amount: Fraction) -> None:
    amounts[currency] = amounts.get(currency, Fraction()) + amount


def value_of(shown: Shown, sums: GroupSums, currency: str | None) -> Value:
    """What is shown of a measure, of amounts what is in this currency."""
    if isinstance(shown, ByCurrency):
        return {name: plain_count(count) for name, count in sorted(sums.conversions_in.items())}
    exact = _exact(shown.formula, sums)
    if not isinstance(exact, Mapping):
        return None if exact is None else _rounded(shown.unit, exact)
    values: dict[str, Any] = {name: _rounded_amount(shown.unit, exact[name], name) for name in sorted(exact)}
    if currency is None:
        return None if shown.kind is MeasureKind.COSTS and not values else values
    # Where no cost was told, it is not known: it is not 0.
    nothing = None if shown.kind is MeasureKind.COSTS else _rounded_amount(shown.unit, Fraction(), currency)
    return values.get(currency, nothing)


def _exact(formula: Formula, sums: GroupSums) -> Exact | float | Mapping[str, Exact] | None:
    """The measure before it is rounded; of amounts, by currency. None for a rate without clicks."""
    match formula:
        case Sum(name):
            exact: Exact | float | Mapping[str, Exact] | None = getattr(sums, name)
            return exact
        case Less(whole, part):
            parts = getattr(sums, part.name)
            return {name: amount - parts.get(name, 0) for name, amount in getattr(sums, whole.name).items()}
        case Per(of, by):
            return _ratio(getattr(sums, of.name), getattr(sums, by.name), sums)


def _ratio(
    of: Exact | Mapping[str, Exact], by: Exact | Mapping[str, Exact], sums: GroupSums
) -> Exact | Mapping[str, Exact] | None:
    if isinstance(by, Mapping):  # each is of a cost, and is known in its currencies
        parts = of if isinstance(of, Mapping) else {}
        return {name: Fraction(parts.get(name, 0)) / by[name] for name in sums.cost if by.get(name)}
    if not by:
        return None
    if isinstance(of, Mapping):
        return {name: Fraction(amount) / by for name, amount in of.items()}
    return Fraction(of) / by


def _rounded(unit: Unit, exact: Exact | float) -> int | float:
    if unit is Unit.SHARE:
        return round(float(exact), RATE_DIGITS)
    assert not isinstance(exact, float)
    return plain_count(exact)


def _rounded_amount(unit: Unit, exact: Exact, currency: str) -> float | Decimal:
    if unit is Unit.RETURN:
        return round(float(exact), RATE_DIGITS)
    return shown_amount(Fraction(exact), currency, MORE_DIGITS if unit is Unit.AMOUNT_PER_CLICK else 0)


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
