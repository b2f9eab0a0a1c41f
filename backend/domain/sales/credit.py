"""Credit: which touches of a device, or of all devices of a customer, a lead or a sale is credited to.

Facts come in as they were told, and nothing is joined for good: the same facts give other credit by other
rules, or as they stood at an earlier time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from operator import attrgetter
from typing import Generic, NamedTuple

from backend.domain.ids import CustomerId
from backend.domain.sales.credit_rules import CreditRules, Model
from backend.domain.sales.histories import Histories, History
from backend.domain.sales.told_facts import OrderedVisit, SaleFacts, SourceT
from backend.domain.visitors.attribution import Credit, Device, Touch


class CreditShare(NamedTuple, Generic[SourceT]):
    """The share of a sale that a touch gets: `weight` of `whole` equal parts.

    `touch` is None for the share that no touch gets. The share is two integers and not a fraction, since
    reports add up many shares.
    """

    touch: SourceT | None
    weight: int
    whole: int

    @property
    def part(self) -> Fraction:
        """The exact part of the sale, and so of its amount and refunds."""
        return Fraction(self.weight, self.whole)


class Credited(NamedTuple, Generic[SourceT]):
    """The customer of a sale, and the share of each touch, oldest first.

    There are no shares if the service had not been told of the sale yet. `refunded` is what was known to
    have been paid back of its `amount`, in the same units.
    """

    customer_id: CustomerId | None
    amount: int
    refunded: int
    shares: Sequence[CreditShare[SourceT]]


def share_credit(
    sales: Iterable[SaleFacts[Touch]], devices: Iterable[Device], rules: CreditRules
) -> Iterator[Credited[Touch]]:
    """The credit of each of these sales, in their order.

    `devices` are those of the sales and, where credit goes by customer, all of their customers. Parts of a
    sale's shares add up to 1.
    """
    return share_by_histories(sales, (History.of_device(device, rules) for device in devices), rules)


def share_by_histories(
    sales: Iterable[SaleFacts[SourceT]], histories: Iterable[History[SourceT]], rules: CreditRules
) -> Iterator[Credited[SourceT]]:
    """The same as `share_credit`, from histories that have what the rules know of the devices."""
    all_histories = Histories(histories, rules)
    for sale in sales:
        customer_id = all_histories.customer_of(sale)
        refunded = 0
        if sale.refunds:
            known = (refund.amount for refund in sale.refunds if rules.knows(refund.received_at, None))
            refunded = min(sum(known), sale.amount)
        shares: Sequence[CreditShare[SourceT]] = ()
        if rules.knows(sale.at, sale.received_at):
            touches = _credited(all_histories.path_of(sale, customer_id), rules.model)
            shares = _shares(touches, rules.model)
        yield Credited(customer_id, sale.amount, refunded, shares)


_KEPT_RULES = CreditRules()
_is_named, _at = attrgetter("is_named"), attrgetter("at")


def kept_credit(sale: SaleFacts[Touch], device: Device | None) -> Credit:
    """The touches that a record keeps: those that `first` and `last_non_direct` name for it by its device."""
    if device and not sale.visits and not sale.copies and not any(map(_is_named, device.touches)):
        return _of_list(sale, device)  # nearly always: then there is nothing to weigh
    histories = Histories([History.of_device(device, _KEPT_RULES)] if device else [], _KEPT_RULES)
    touches = [visit.source for visit in histories.path_of(sale, None) if visit.is_touch]
    return Credit(touches[0], touches[-1]) if touches else Credit()


def _of_list(sale: SaleFacts[Touch], device: Device) -> Credit:
    """As `kept_credit`, where each touch of the device is a visit of its own and nothing else is known."""
    first = device.first_touch
    if first is None or first.at > sale.at:
        return Credit()
    until = bisect_right(device.touches, sale.at, key=_at)
    return Credit(first, device.touches[until - 1] if until else first)


def _credited(path: Sequence[OrderedVisit[SourceT]], model: Model) -> list[SourceT | None]:
    """The touches that get credit by the model; [None] if no touch gets it."""
    if model is Model.LAST:
        return [path[-1].source if path else None]
    touches = [visit.source for visit in path if visit.is_touch]
    if model is Model.LAST_NON_DIRECT:
        touches = touches[-1:]
    elif model is Model.FIRST:
        touches = touches[:1]
    return touches or [None]


@lru_cache
def _weights(model: Model, count: int) -> Sequence[int]:
    """The weights of so many touches that get credit."""
    between = count - 2
    if model is not Model.POSITION_BASED or between < 1:
        return (1,) * count
    return (2 * between, *(1,) * between, 2 * between)


def _shares(credited: Sequence[SourceT | None], model: Model) -> list[CreditShare[SourceT]]:
    if len(credited) == 1:
        return [CreditShare(credited[0], 1, 1)]
    weights = _weights(model, len(credited))
    whole = sum(weights)
    return [CreditShare(touch, weight, whole) for touch, weight in zip(credited, weights, strict=True)]
