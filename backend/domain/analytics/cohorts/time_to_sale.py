"""The time from the click that a sale is credited to, until the sale."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from backend.domain.analytics.cohorts.sales import CreditedSale
from backend.domain.analytics.period import QueryPeriod
from backend.domain.errors import InvalidField
from backend.domain.sales.credit_rules import CreditRules, Model

_MINUTE, _HOUR, _DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
# Where buckets begin; the last one has no end.
EDGES = (
    timedelta(),
    *(10 * _MINUTE, _HOUR, 6 * _HOUR),
    *(_DAY, 3 * _DAY, 7 * _DAY, 14 * _DAY, 30 * _DAY, 60 * _DAY, 90 * _DAY),
)
_OF_ONE_TOUCH = (Model.LAST_NON_DIRECT, Model.LAST, Model.FIRST)


def check_one_touch(rules: CreditRules) -> None:
    """Raise InvalidField unless each sale is credited to one touch."""
    if rules.model not in _OF_ONE_TOUCH:
        raise InvalidField("model", f"must be one of {', '.join(_OF_ONE_TOUCH)}: others divide a sale")


@dataclass(frozen=True, slots=True)
class TimeToSale:
    """How long it took from a click to the sales of a period.

    The median and the 90th percentile are times that a sale took (by nearest rank), in milliseconds; None
    without any. `counts` are the numbers of conversions in the buckets that begin at EDGES, and `untouched`
    is the number of those that are credited to no touch.
    """

    conversions: int
    median: int | None
    p90: int | None
    counts: Sequence[int]
    untouched: int


def time_to_sale(
    sales: Iterable[CreditedSale], period: QueryPeriod, currency: str | None = None
) -> TimeToSale:
    """How long it took to these conversions of the period, which are credited to one touch each."""
    chosen = [
        sale
        for sale in sales
        if sale.passes and period.start <= sale.at < period.end and currency in {None, sale.currency}
    ]
    took = sorted(max(sale.at - sale.touched_at, timedelta()) for sale in chosen if sale.touched_at)
    counts = [0] * len(EDGES)
    for time in took:
        counts[bisect_right(EDGES, time) - 1] += 1
    return TimeToSale(
        len(took), _rank(took, 5), _rank(took, 9), counts, sum(not sale.touched_at for sale in chosen)
    )


def _rank(took: Sequence[timedelta], tenths: int) -> int | None:
    """The smallest time that so many tenths of all do not exceed."""
    return took[-(-len(took) * tenths // 10) - 1] // timedelta(milliseconds=1) if took else None
