"""New and returning customers: who bought for the first time in a period, and who had bought before."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from backend.domain.analytics.cohorts.sales import CreditedSale, SaleFigures, figures_of, first_sales
from backend.domain.analytics.period import QueryPeriod


@dataclass(frozen=True, slots=True)
class NewAndReturning:
    """What the customers of a period bought in it.

    A customer is `new` if their first conversion of all is in the period, and else `returning`. Conversions
    of nobody who is known as a customer are `unknown`.
    """

    new: SaleFigures = field(default_factory=SaleFigures)
    returning: SaleFigures = field(default_factory=SaleFigures)
    unknown: SaleFigures = field(default_factory=SaleFigures)

    @property
    def without_amounts(self) -> NewAndReturning:
        """The same without any amount."""
        return NewAndReturning(
            *(figures.without_amounts for figures in (self.new, self.returning, self.unknown))
        )


def new_and_returning(
    sales: Iterable[CreditedSale], period: QueryPeriod, currency: str | None = None
) -> NewAndReturning:
    """Who bought in the period, given all conversions until its end.

    Which conversion was a customer's first does not depend on filters and currency.
    """
    told = [sale for sale in sales if sale.at < period.end]
    firsts = first_sales(told)
    new: list[CreditedSale] = []
    returning: list[CreditedSale] = []
    unknown: list[CreditedSale] = []
    for sale in told:
        if not sale.passes or sale.at < period.start or currency not in {None, sale.currency}:
            continue
        if sale.customer_id is None:
            unknown.append(sale)
        elif firsts[sale.customer_id].at >= period.start:
            new.append(sale)
        else:
            returning.append(sale)
    return NewAndReturning(*map(figures_of, (new, returning, unknown)))
