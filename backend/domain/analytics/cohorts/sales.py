"""What customers bought, as figures over time need it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from backend.domain.ids import CallId, CustomerId

Amounts = Mapping[str, Decimal]


class CreditedSale(NamedTuple):
    """A conversion, and the one touch that it is credited to.

    `touched_at` is the time of the click that led to the touch, or of the touch where that is not known, and
    never after the sale; None: no touch gets the credit. `passes` says whether the filters of a query, which
    go by the touch, leave it in.
    """

    id: CallId
    at: datetime
    customer_id: CustomerId | None
    currency: str
    amount: Decimal
    refunded: Decimal
    touched_at: datetime | None
    passes: bool = True


@dataclass(frozen=True, slots=True)
class SaleFigures:
    """What some conversions come to. `customers` counts each customer once; amounts are by currency."""

    customers: int = 0
    conversions: int = 0
    revenue: Amounts = field(default_factory=dict)
    refunds: Amounts = field(default_factory=dict)

    @property
    def net_revenue(self) -> Amounts:
        """What stayed of the revenue."""
        return {currency: sold - self.refunds.get(currency, 0) for currency, sold in self.revenue.items()}

    @property
    def without_amounts(self) -> SaleFigures:
        """The same without any amount."""
        return SaleFigures(self.customers, self.conversions)


def figures_of(sales: Iterable[CreditedSale]) -> SaleFigures:
    """What these conversions come to."""
    customers, conversions = set(), 0
    revenue: dict[str, Decimal] = {}
    refunds: dict[str, Decimal] = {}
    for sale in sales:
        conversions += 1
        if sale.customer_id is not None:
            customers.add(sale.customer_id)
        revenue[sale.currency] = revenue.get(sale.currency, Decimal()) + sale.amount
        refunds[sale.currency] = refunds.get(sale.currency, Decimal()) + sale.refunded
    return SaleFigures(len(customers), conversions, revenue, refunds)


def first_sales(sales: Iterable[CreditedSale]) -> dict[CustomerId, CreditedSale]:
    """The first conversion of each customer; of several at one time, the one whose id sorts first."""
    firsts: dict[CustomerId, CreditedSale] = {}
    for sale in sales:
        if sale.customer_id is not None:
            known = firsts.get(sale.customer_id, sale)
            firsts[sale.customer_id] = min(known, sale, key=lambda each: (each.at, each.id))
    return firsts
