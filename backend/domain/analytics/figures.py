"""What a group of a query of analytics comes to: added up exactly, and rounded once, when it is shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from backend.domain.analytics.answer import RATE_DIGITS, Amounts, Value, ValueColumns, plain_count
from backend.domain.analytics.query import ByCurrency, Measure, Shown
from backend.domain.fields.money import shown

# Decimals of an amount per click beyond those of its currency.
MORE_DIGITS = 4


class Sold(NamedTuple):
    """What sales come to that were divided into `whole` parts, and are in one currency of so many decimals.

    Each number is of such parts, and amounts are of the currency's smallest units. `of_links` are those
    conversions whose touch is of a link, and `revenue_of_links` is theirs.
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


@dataclass(slots=True)
class GroupSums:
    """What was counted for one group. Amounts are by currency, in main units, not rounded.

    Leads, conversions, events and identities are fractions where several touches share the credit.
    `conversions_in` are those of each currency.
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
            if sold.currency and sold.conversions:
                already = self.conversions_in.get(sold.currency, 0)
                self.conversions_in[sold.currency] = already + _part(sold.conversions, whole)
                self._add_amounts(sold.currency, sold)

    def _add_amounts(self, currency: str, sold: Sold) -> None:
        unit = sold.whole * 10 ** (sold.digits or 0)
        _add(self.exact_revenue, currency, Fraction(sold.revenue or 0, unit))
        if sold.of_links:
            _add(self.exact_revenue_of_links, currency, Fraction(sold.revenue_of_links or 0, unit))
        if sold.refunds:
            _add(self.exact_refunds, currency, Fraction(sold.refunds, unit))


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
    match measure:
        case ByCurrency.CONVERSIONS:
            return {name: plain_count(count) for name, count in sorted(counts.conversions_in.items())}
        case Measure.REVENUE | Measure.REFUNDS | Measure.NET_REVENUE:
            amounts: Amounts = getattr(counts, measure.value)
            return _money(amounts, currency)
        case Measure.CONVERSION_RATE:
            came = float(counts.came_of_links)
            return round(came / counts.clicks, RATE_DIGITS) if counts.clicks else None
        case Measure.REVENUE_PER_CLICK:
            return _revenue_per_click(counts, currency)
        case Measure.CHANCE_OF_BEST:
            return counts.chance_of_best
    count: int | Fraction = getattr(counts, measure.value)
    return plain_count(count)


def _revenue_per_click(counts: GroupSums, currency: str | None) -> Value:
    if not counts.clicks:
        return None
    amounts = {name: amount / counts.clicks for name, amount in counts.exact_revenue_of_links.items()}
    rounded = {name: shown(amount, name, MORE_DIGITS) for name, amount in amounts.items()}
    return _money(rounded, currency, MORE_DIGITS)


def _money(amounts: Amounts, currency: str | None, digits: int = 0) -> Value:
    if currency is None:
        return dict(sorted(amounts.items()))
    return amounts.get(currency, shown(Fraction(), currency, digits))


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
