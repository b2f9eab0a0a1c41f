"""What rows show of what the naive model has counted: exact sums, rounded once."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from backend.domain.analytics.measures import ByCurrency, Measure, MeasureKind
from backend.domain.analytics.query import Query
from tests.storage.analytics.naive.counts import Tally

# The decimals of amounts.
DIGITS = {"EUR": 2, "JPY": 0}


def values_shown(tally: Tally, query: Query) -> dict[str, object]:
    """All that a row shows."""
    found = {str(measure): shown(tally, measure, query.currency) for measure in query.measures}
    if Measure.CONVERSIONS in query.measures and not query.currency:
        counts = {of: part for (what, of), part in tally.amounts.items() if what == "conversions" and part}
        found[ByCurrency.CONVERSIONS] = {of: float(rounded(count, 6)) for of, count in counts.items()}
    return found


def shown(tally: Tally, measure: Measure, currency: str | None) -> object:
    """A measure as a row shows it: rounded once."""
    clicks = tally.counts[Measure.CLICKS]
    if measure.kind is MeasureKind.COSTS:
        return _of_costs(tally, measure, currency)
    match measure:
        case Measure.CLICKS | Measure.NOT_COUNTED | Measure.OPENS | Measure.INSTALLS:
            return tally.counts[measure]
        case Measure.VISITORS | Measure.CUSTOMERS | Measure.CONTACTS:
            return len(tally.people[measure])
        case Measure.LEADS | Measure.CONVERSIONS | Measure.EVENTS | Measure.IDENTITIES:
            return float(rounded(tally.parts[measure], 6))
        case Measure.CONVERSION_RATE | Measure.REVENUE_PER_CLICK:
            return _by_click(tally, measure, currency) if clicks else None
        case Measure.NET_REVENUE:
            for (what, of), amount in list(tally.amounts.items()):
                if what == "revenue":
                    tally.amounts["net_revenue", of] = amount - tally.amounts["refunds", of]
    return _amounts(tally, measure, currency)


def _by_click(tally: Tally, measure: Measure, currency: str | None) -> object:
    clicks = tally.counts[Measure.CLICKS]
    if measure is Measure.CONVERSION_RATE:
        return float(rounded(tally.parts["of_links"] / clicks, 6))
    return _amounts(tally, "of_links", currency, clicks, 4)


def _of_costs(tally: Tally, measure: Measure, currency: str | None) -> object:
    match measure:
        case Measure.RETURN_ON_AD_SPEND:
            return _returns(tally, currency)
        case Measure.COST_PER_CLICK:
            return _costs(tally, currency, "clicks_with_cost", 4)
        case Measure.COST_PER_CONVERSION:
            return _costs(tally, currency, "conversions_with_cost")
    return _costs(tally, currency)


def _costs(tally: Tally, currency: str | None, name: str = "", more: int = 0) -> object:
    """What something cost, by those things of which the cost in its currency is known; None for nothing."""
    told = {of: amount for (what, of), amount in tally.amounts.items() if what == "cost"}
    by = {of: tally.amounts[name, of] if name else Fraction(1) for of in told}
    found = {of: rounded(amount / by[of], DIGITS[of] + more) for of, amount in told.items() if by[of]}
    if currency:
        return found.get(currency)
    return {of: cost for of, cost in found.items() if cost} if found else None


def _returns(tally: Tally, currency: str | None) -> object:
    """Revenue of campaigns with a cost, by it."""
    found = {
        of: float(rounded(tally.amounts["revenue_with_cost", of] / amount, 6))
        for (what, of), amount in list(tally.amounts.items())
        if what == "cost" and amount
    }
    if currency:
        return found.get(currency)
    return {of: ratio for of, ratio in found.items() if ratio} if found else None


def _amounts(tally: Tally, name: str, currency: str | None, by: int = 1, more: int = 0) -> object:
    found = {
        of: rounded(amount / by, DIGITS[of] + more)
        for (what, of), amount in tally.amounts.items()
        if what == name
    }
    if currency:
        return found.get(currency, rounded(Fraction(), DIGITS[currency] + more))
    return {of: total for of, total in found.items() if total}


def rounded(number: Fraction, digits: int) -> Decimal:
    """With so many decimals, a half to the even digit."""
    return Decimal(round(number * 10**digits)).scaleb(-digits)
